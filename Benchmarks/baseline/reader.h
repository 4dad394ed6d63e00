// SPDX-License-Identifier: Apache-2.0
//
// Reads a request in one pass, without a tree. What is no request shows in `is_wrong`.
#ifndef READER_H
#define READER_H

#include "../common/bytes.h"

struct reader {
  const char *at, *end;
  bool is_wrong;
};

/// What a request may have; parts point into the bytes that were read, strings as they are escaped.
struct request {
  struct part id, method, store, type, title, todo;
  int64_t count;
};

bool read_request(struct part line, struct request *request);

#endif
