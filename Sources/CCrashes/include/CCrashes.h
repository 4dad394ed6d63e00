// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers that write which thread has crashed the process. In C, since a handler must not allocate memory or take
// a lock, and Swift does not promise that.

#ifndef C_CRASHES_H
#define C_CRASHES_H

#include <stddef.h>

enum { crash_mark_length = 32 };

// Appends the mark of the thread that crashes the process, and a line end, to an open file from now on; -1: to none.
// After that the earlier handler of the signal runs, or the system's.
void crash_watch(int file);

// Marks this thread until `crash_unmark`.
//
// mark: crash_mark_length bytes.
// stack: memory that handlers use until then if the stack of the thread is full; not used if the thread has an alternate
// stack already.
void crash_mark(const char *mark, void *stack, size_t stack_bytes);
void crash_unmark(void);

#endif
