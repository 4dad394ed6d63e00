// SPDX-License-Identifier: Apache-2.0
//
// The event loop: waits for any of the connections, reads their frames and lets them send more.
#ifndef LOOP_H
#define LOOP_H

#include "frontend.h"

/// Adds a frontend to the loop, or removes it.
void watch(struct frontend *frontend, bool on);
/// Enables or disables the notification when the frontend can write again.
void wait_to_write(struct frontend *frontend, bool on);
/// Waits for at most this many milliseconds, reads all available frames, and calls `after` for each
/// frontend with events. Returns false if a connection has ended.
bool turn(int milliseconds, void (*after)(struct frontend *));

#endif
