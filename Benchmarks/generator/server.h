// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says about the process that is measured.
#ifndef SERVER_H
#define SERVER_H

#include <stdint.h>
#include <sys/types.h>

/// Nanoseconds on a clock that only moves forward.
uint64_t now(void);
/// Nanoseconds that all threads of the process have run so far; 0 for no process.
uint64_t processor_time(pid_t process);
/// KiB of the process that are in memory; 0 for no process.
long resident(pid_t process);
/// Keeps the calling process to one core; -1 allows all of them.
void pin(int core);

#endif
