// SPDX-License-Identifier: Apache-2.0
//
// Signal handlers that record the thread that crashed the process. In C, because a handler must not
// allocate memory or take a lock, and Swift does not guarantee that.

#ifndef C_CRASHES_H
#define C_CRASHES_H

#include <stddef.h>

// The length of a mark, in bytes.
enum { crash_mark_length = 32 };

// Installs the handlers, which append the mark of the crashing thread and a line end to an open
// file.
//
// The handler that was installed before, or the system's default action, runs afterwards.
//
// file: a file descriptor; -1 stops the recording.
void crash_watch(int file);

// Marks this thread until `crash_unmark`.
//
// mark: crash_mark_length bytes.
// stack: memory for signal handlers until then, in case the stack of the thread is full; not used if
// the thread already has an alternate stack.
void crash_mark(const char *mark, void *stack, size_t stack_bytes);
// Removes the mark of this thread.
void crash_unmark(void);

#endif
