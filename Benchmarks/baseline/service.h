// SPDX-License-Identifier: Apache-2.0
//
// The effect of a request: the part of Statewire's protocol that a load of todo inputs needs.
#ifndef SERVICE_H
#define SERVICE_H

#include "list.h"

/// The one store of a connection.
struct service {
  struct list list;
  int64_t revision;
  /// `is_content` is true after `stateRequested`: the view state contains the list.
  bool is_content, is_subscribed;
};

/// Handles one line; appends updates and then the response to `out`.
void take_line(struct service *service, struct part line, struct bytes *out);

#endif
