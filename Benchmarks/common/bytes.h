// SPDX-License-Identifier: Apache-2.0
//
// A byte buffer, parts of a text, and the exit on failure.
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// A growing byte buffer; all members are zero while it is empty.
struct bytes {
  char *start;
  size_t count, room;
};

void reserve(struct bytes *bytes, size_t more);
void add(struct bytes *bytes, const void *more, size_t count);
void add_text(struct bytes *bytes, const char *text);
void add_number(struct bytes *bytes, int64_t number);
/// Releases the memory.
void drop(struct bytes *bytes);

/// Appends a string literal, whose length is known to the compiler.
#define ADD(bytes, literal) add(bytes, "" literal, sizeof(literal) - 1)

/// A part of a buffer that it does not own.
struct part {
  const char *start;
  size_t count;
};

#define IS(part, literal) \
  ((part).count == sizeof(literal) - 1 && !memcmp((part).start, "" literal, sizeof(literal) - 1))

/// Prints the message and ends the program with status 2.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
