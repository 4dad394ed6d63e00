// SPDX-License-Identifier: Apache-2.0
//
// What a request does: the part of Statewire's protocol that a load of todo inputs needs.
#ifndef SERVICE_H
#define SERVICE_H

#include "list.h"

/// The one store of a connection.
struct service {
  struct list list;
  int64_t revision;
  /// `stateRequested` has come: the list is shown.
  bool is_content, is_subscribed;
};

/// Takes one line; puts frames and then the answer into what goes out.
void take_line(struct service *service, struct part line, struct bytes *out);

#endif
