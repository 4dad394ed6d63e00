// SPDX-License-Identifier: Apache-2.0
//
// One run of the generator: the options of the command line, and the modes.
#ifndef RUN_H
#define RUN_H

#include "frontend.h"

struct run {
  struct target target;
  /// The address of the baseline, which runs on the server's core. `soak` regularly sends it an input:
  /// the response time shows the load of other processes on the core.
  struct target control;
  /// The node over which `load` attaches to its sessions; without an address: none.
  struct target relay;
  /// The measured process, if the generator has not started it.
  pid_t server;
  int connections, in_flight, subscribers;
  long items;
  enum kind kind;
  /// The store kind of the todo lists.
  const char *store_kind;
  double warm_up, seconds, interval;
  /// The total number of inputs per second; 0: a new input after each response.
  double rate;
  /// True if each connection opens a session with a handle.
  bool has_sessions;
};

/// The modes; each prints one JSON object per line.
void run_load(const struct run *run);
void run_broadcast(const struct run *run);
void run_idle(const struct run *run);
void run_first_response(const struct run *run);
void run_kill(const struct run *run);
void run_soak(const struct run *run);

// Functions that several modes share (window.c).

/// Connects and prepares this number of frontends.
struct frontend *frontends(const struct run *run, int count, struct histogram *latencies);
/// Disconnects, and resumes the session over this server.
void resume(struct frontend *frontend, const struct target *target);
/// Sends inputs over all frontends for this duration, each with `in_flight` open requests; then completes
/// their cycles and waits for all responses.
void send_inputs(const struct run *run, struct frontend *all, int count, double seconds);
/// Kills the server after this duration, in the middle of inputs, and reads until all connections have
/// ended.
void send_until_killed(const struct run *run, struct frontend *all, int count, double seconds);

#endif
