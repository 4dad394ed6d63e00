// SPDX-License-Identifier: Apache-2.0

#ifndef CHILD_PROGRAMS_H
#define CHILD_PROGRAMS_H

#include <stdint.h>
#include <sys/types.h>

/// The limits of a child process; 0 for none.
struct child_limits {
  /// Bytes of writable memory of its own.
  uint64_t memory;
  /// Number of open files.
  uint64_t files;
  /// Number of processes of its user.
  uint64_t processes;
};

/// Starts a program as the leader of a new process group.
///
/// The program has the three descriptors as its standard streams and no other descriptor, default signal
/// handlers, and no core file. It is killed when the calling thread ends, also if this process is killed.
///
/// Returns 0, or the error number of the function that failed, which is named in `failed`.
int child_start(const char *const *arguments, const char *const *environment, const char *directory,
                int input, int output, int errors, const struct child_limits *limits, pid_t *child,
                const char **failed);

/// Opens a descriptor that is readable once a child process has ended, until it is reaped.
///
/// Returns -1 if the system has no such descriptors.
int child_watch(pid_t child);

#endif
