// SPDX-License-Identifier: Apache-2.0
//
// The one loop: it waits for any of the connections, takes what comes, and lets them send more.
#ifndef LOOP_H
#define LOOP_H

#include "frontend.h"

/// From now on `turn` takes what comes for this frontend, or no longer.
void listen_to(struct frontend *frontend, bool on);
/// Whether the loop is to say when the frontend can write again.
void wait_to_write(struct frontend *frontend, bool on);
/// Waits for at most so many milliseconds, takes all that has come, and calls `after` for each frontend
/// to which something has. Returns false where a connection has ended.
bool turn(int milliseconds, void (*after)(struct frontend *));

#endif
