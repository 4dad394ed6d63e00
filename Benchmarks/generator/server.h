// SPDX-License-Identifier: Apache-2.0
//
// The kernel's figures for the measured process.
#ifndef SERVER_H
#define SERVER_H

#include <stdint.h>
#include <sys/types.h>

/// Returns the nanoseconds of a monotonic clock.
uint64_t now(void);
/// Returns the processor time of all threads of the process in nanoseconds; 0 for no process.
uint64_t processor_time(pid_t process);
/// Returns the resident memory of the process in KiB; 0 for no process.
long resident(pid_t process);
/// Pins the calling process to one core; -1 allows all cores.
void pin(int core);

#endif
