// SPDX-License-Identifier: Apache-2.0
//
// Reads a request in one pass, without building a tree.
#ifndef READER_H
#define READER_H

#include "../common/bytes.h"

/// The position in the text. `is_wrong` is true after text that is not a request.
struct reader {
  const char *at, *end;
  bool is_wrong;
};

/// The members of a request. Parts point into the text that was read; strings keep their escapes.
struct request {
  struct part id, method, store, type, title, todo;
  int64_t count;
};

/// Reads a request; false if the line is not one.
bool read_request(struct part line, struct request *request);

#endif
