// SPDX-License-Identifier: Apache-2.0
//
// One run of the generator: what the command line asks for, and the ways to run.
#ifndef RUN_H
#define RUN_H

#include "frontend.h"

struct run {
  struct target target;
  /// Where the baseline listens, on the core of the server; `soak` sends it an input now and then, whose
  /// time says how busy the core is with others.
  struct target control;
  /// The process that is measured, where the generator has not started it.
  pid_t server;
  int connections, in_flight, subscribers;
  long items;
  enum kind kind;
  double warm_up, seconds, interval;
  /// Inputs a second in all; 0 for as many as are answered.
  double rate;
  /// Each connection opens a session with a handle.
  bool has_sessions;
};

/// Each prints one JSON object a line.
void run_load(const struct run *run);
void run_broadcast(const struct run *run);
void run_idle(const struct run *run);
void run_first_reply(const struct run *run);
void run_kill(const struct run *run);
void run_soak(const struct run *run);

// What several ways have in common (window.c).

/// Connects and prepares so many frontends that take turns.
struct frontend *frontends(const struct run *run, int count, struct histogram *latencies);
/// Sends inputs over all of them for so long, each with as many in flight as the run says; then lets
/// them finish their cycle, and waits until all is answered.
void send_inputs(const struct run *run, struct frontend *all, int count, double seconds);
/// Sends the server a kill in the middle of inputs, and takes what still comes until all connections
/// have ended.
void send_until_killed(const struct run *run, struct frontend *all, int count, double seconds);

#endif
