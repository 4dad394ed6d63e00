// SPDX-License-Identifier: Apache-2.0
//
// One frontend of a session sends, all of its frontends see it.
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"
#include "run.h"
#include "server.h"

static void nothing(struct frontend *frontend) { (void)frontend; }

/// Until everybody holds what the driver holds.
static void wait_for_all(const struct frontend *driver, const struct frontend *others, int count) {
  uint64_t latest = now() + 60000000000;
  for (int at = 0; at < count; at++)
    while (others[at].revision < driver->revision) {
      if (!turn(100, nothing)) fail("the server has closed a connection");
      if (now() > latest) fail("an observer does not get the last frame");
    }
}

void run_broadcast(const struct run *run) {
  struct run with_session = *run;
  with_session.has_sessions = true;
  struct frontend *driver = frontends(&with_session, 1, NULL);
  int count = run->subscribers - 1;
  struct frontend *others = calloc((size_t)count + 1, sizeof *others);
  if (!others) fail("no memory");
  for (int at = 0; at < count; at++) {
    others[at] = (struct frontend){.kind = run->kind, .items = run->items};
    connect_to(&others[at], &run->target);
    attach(&others[at], driver->session, -1, true);
    listen_to(&others[at], true);
  }
  send_inputs(run, driver, 1, run->warm_up);
  wait_for_all(driver, others, count);

  long inputs = driver->inputs, frames = 0;
  for (int at = 0; at < count; at++) frames -= others[at].frames;
  uint64_t began = now(), used = processor_time(run->server);
  send_inputs(run, driver, 1, run->seconds);
  wait_for_all(driver, others, count);
  used = processor_time(run->server) - used;
  double took = (double)(now() - began) / 1e9;
  inputs = driver->inputs - inputs;
  for (int at = 0; at < count; at++) frames += others[at].frames;

  compare(driver);
  for (int at = 0; at < count; at++) {
    others[at].inputs = driver->inputs;
    compare(&others[at]);
  }
  // Fewer than one where frames were merged, since an observer was behind.
  double each = count ? (double)frames / count / (double)inputs : 1;
  printf("{\"inputs\": %ld, \"per_second\": %.1f, \"cpu_us\": %.4f, \"busy\": %.3f,"
         " \"frames_per_input\": %.4f}\n",
         inputs, (double)inputs / took, (double)used / 1e3 / (double)inputs,
         (double)used / 1e9 / took, each);
}
