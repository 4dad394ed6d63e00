// SPDX-License-Identifier: Apache-2.0
#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void reserve(struct bytes *bytes, size_t more) {
  if (bytes->count + more <= bytes->room) return;
  size_t room = bytes->room ? bytes->room : 512;
  while (room < bytes->count + more) room *= 2;
  bytes->start = realloc(bytes->start, room);
  if (!bytes->start) fail("no memory for %zu bytes", room);
  bytes->room = room;
}

void add(struct bytes *bytes, const void *more, size_t count) {
  reserve(bytes, count);
  memcpy(bytes->start + bytes->count, more, count);
  bytes->count += count;
}

void add_text(struct bytes *bytes, const char *text) { add(bytes, text, strlen(text)); }

void add_number(struct bytes *bytes, int64_t number) {
  char digits[24];
  size_t first = sizeof digits;
  uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
  do digits[--first] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (number < 0) digits[--first] = '-';
  add(bytes, digits + first, sizeof digits - first);
}

void drop(struct bytes *bytes) {
  free(bytes->start);
  *bytes = (struct bytes){0};
}

void fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("FAILED: ", stderr);
  vfprintf(stderr, format, values);
  fputc('\n', stderr);
  va_end(values);
  exit(2);
}
