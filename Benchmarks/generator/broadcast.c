// SPDX-License-Identifier: Apache-2.0
//
// One frontend of a session sends inputs; all frontends of the session receive the updates.
#include <stdio.h>
#include <stdlib.h>

#include "loop.h"
#include "run.h"
#include "server.h"

static void nothing(struct frontend *frontend) { (void)frontend; }

/// Waits until all others have the revision of the driver.
static void wait_for_all(const struct frontend *driver, const struct frontend *others, int count) {
  uint64_t latest = now() + 60000000000;
  for (int at = 0; at < count; at++)
    while (others[at].revision < driver->revision) {
      if (!turn(100, nothing)) fail("the server has closed a connection");
      if (now() > latest) fail("an observer did not receive the last update within a minute");
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
    others[at] = (struct frontend){
        .kind = run->kind, .store_kind = run->store_kind, .items = run->items};
    connect_to(&others[at], &run->target);
    attach(&others[at], driver->session, -1, true);
    watch(&others[at], true);
  }
  send_inputs(run, driver, 1, run->warm_up);
  wait_for_all(driver, others, count);

  long inputs = driver->inputs, updates = 0;
  for (int at = 0; at < count; at++) updates -= others[at].updates;
  uint64_t began = now(), used = processor_time(run->server);
  send_inputs(run, driver, 1, run->seconds);
  wait_for_all(driver, others, count);
  used = processor_time(run->server) - used;
  double took = (double)(now() - began) / 1e9;
  inputs = driver->inputs - inputs;
  for (int at = 0; at < count; at++) updates += others[at].updates;

  compare(driver);
  for (int at = 0; at < count; at++) {
    others[at].inputs = driver->inputs;
    compare(&others[at]);
  }
  // Less than 1 if updates were coalesced, because an observer was slow.
  double each = count ? (double)updates / count / (double)inputs : 1;
  printf("{\"inputs\": %ld, \"per_second\": %.1f, \"cpu_us\": %.4f, \"busy\": %.3f,"
         " \"updates_per_input\": %.4f}\n",
         inputs, (double)inputs / took, (double)used / 1e3 / (double)inputs,
         (double)used / 1e9 / took, each);
}
