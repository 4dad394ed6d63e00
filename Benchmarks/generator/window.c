// SPDX-License-Identifier: Apache-2.0
#include "loop.h"
#include "run.h"
#include "server.h"

#include <signal.h>
#include <stdlib.h>

struct frontend *frontends(const struct run *run, int count, struct histogram *latencies) {
  struct frontend *all = calloc((size_t)count, sizeof *all);
  if (!all) fail("no memory");
  for (int at = 0; at < count; at++) {
    all[at] = (struct frontend){.kind = run->kind, .store_kind = run->store_kind, .items = run->items,
                                .latencies = latencies};
    connect_to(&all[at], &run->target);
    prepare(&all[at], run->has_sessions);
    watch(&all[at], true);
  }
  return all;
}

void resume(struct frontend *frontend, const struct target *target) {
  struct frontend before = *frontend;
  leave(frontend);
  connect_to(frontend, target);
  frontend->inputs = before.inputs;
  attach(frontend, before.session, before.revision, false);
  watch(frontend, true);
}

// The callbacks of the loop have no context argument, therefore the window is global.
static int in_flight;
static bool is_over;

/// Sends as many inputs as the window allows in one write.
static void refill(struct frontend *frontend) {
  if (frontend->waits_to_write || frontend->is_observer) return;
  long before = frontend->sent;
  while (open_requests(frontend) < in_flight &&
         (!is_over || frontend->inputs % cycle(frontend->kind)))
    put_input(frontend);
  if (frontend->sent > before) flush(frontend);
}

static bool is_done(const struct frontend *all, int count) {
  for (int at = 0; at < count; at++)
    if (open_requests(&all[at]) || all[at].inputs % cycle(all[at].kind)) return false;
  return true;
}

void send_inputs(const struct run *run, struct frontend *all, int count, double seconds) {
  uint64_t end = now() + (uint64_t)(seconds * 1e9), latest = end + 60000000000;
  in_flight = run->in_flight;
  is_over = false;
  for (int at = 0; at < count; at++) refill(&all[at]);
  while (!is_over || !is_done(all, count)) {
    if (!turn(100, refill)) fail("the server has closed a connection");
    uint64_t time = now();
    is_over = is_over || time >= end;
    if (time >= latest) fail("responses are missing a minute after the end");
  }
}

void send_until_killed(const struct run *run, struct frontend *all, int count, double seconds) {
  uint64_t end = now() + (uint64_t)(seconds * 1e9);
  bool has_killed = false;
  int live = count;
  in_flight = run->in_flight;
  is_over = false;
  for (int at = 0; at < count; at++) refill(&all[at]);
  while (live > 0) {
    turn(100, refill);
    if (!has_killed && now() >= end) {
      has_killed = true;
      if (kill(run->server, SIGKILL)) fail("cannot kill process %d", (int)run->server);
    }
    live = 0;
    for (int at = 0; at < count; at++) live += all[at].is_watched;
    if (live < count && !has_killed) fail("the server has closed a connection");
  }
}
