// SPDX-License-Identifier: Apache-2.0
//
// Bytes that grow, text that is looked through, and the way out when something is wrong.
#ifndef BYTES_H
#define BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes that grow; all zero is none.
struct bytes {
  char *start;
  size_t count, room;
};

void reserve(struct bytes *bytes, size_t more);
void add(struct bytes *bytes, const void *more, size_t count);
void add_text(struct bytes *bytes, const char *text);
void add_number(struct bytes *bytes, int64_t number);
/// Gives the memory back.
void drop(struct bytes *bytes);

/// For text that is written where it is used: its length is known to the compiler.
#define ADD(bytes, literal) add(bytes, "" literal, sizeof(literal) - 1)

/// A part of bytes that somebody else keeps.
struct part {
  const char *start;
  size_t count;
};

#define IS(part, literal) \
  ((part).count == sizeof(literal) - 1 && !memcmp((part).start, "" literal, sizeof(literal) - 1))

/// Says what is wrong and ends the program with status 2.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
