// SPDX-License-Identifier: Apache-2.0
//
// Kills the server in the middle of inputs. The caller of the generator restarts it at the same address.
// Checks that every acknowledged input was applied, and none twice.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "server.h"

/// The state of one frontend when its connection ended.
struct memory {
  char session[64];
  /// The revision before the first input, and the last one that was received.
  long first_revision, revision;
  long sent, responses;
};

/// Returns the number of inputs that were applied without a response.
static long check(const struct run *run, const struct memory *memory) {
  struct frontend frontend = {.kind = run->kind, .items = run->items};
  connect_to(&frontend, &run->target);
  attach(&frontend, memory->session, memory->revision, false);
  ask(&frontend, "\"method\":\"ping\"");
  // Each input makes one revision.
  long done = frontend.revision - memory->first_revision;
  if (done < memory->responses || done > memory->sent)
    fail("%ld inputs were sent and %ld acknowledged, but the server has %ld", memory->sent,
         memory->responses, done);
  frontend.inputs = done;
  compare(&frontend);
  leave(&frontend);
  return done - memory->responses;
}

void run_kill(const struct run *run) {
  static struct histogram latencies;
  struct run with_sessions = *run;
  with_sessions.has_sessions = true;
  int count = run->connections;
  struct frontend *all = frontends(&with_sessions, count, &latencies);
  struct memory *memories = calloc((size_t)count, sizeof *memories);
  if (!memories) fail("no memory");
  for (int at = 0; at < count; at++) {
    memories[at].first_revision = all[at].revision;
    memories[at].responses = -all[at].responses;
    memcpy(memories[at].session, all[at].session, sizeof all[at].session);
  }
  send_inputs(run, all, count, run->warm_up);
  memset(&latencies, 0, sizeof latencies);
  long before = 0, after = 0;
  for (int at = 0; at < count; at++) before += all[at].responses;
  uint64_t began = now(), used = processor_time(run->server);
  send_inputs(run, all, count, run->seconds);
  double took = (double)(now() - began) / 1e9;
  used = processor_time(run->server) - used;
  for (int at = 0; at < count; at++) after += all[at].responses;
  double p50 = quantile(&latencies, .5), p99 = quantile(&latencies, .99);

  send_until_killed(run, all, count, .2);
  long without_response = 0;
  for (int at = 0; at < count; at++) {
    memories[at].revision = all[at].revision;
    memories[at].sent = all[at].inputs;
    memories[at].responses += all[at].responses;
    leave(&all[at]);
  }
  for (int at = 0; at < count; at++) without_response += check(run, &memories[at]);
  double inputs = (double)(after - before);
  printf("{\"inputs\": %.0f, \"per_second\": %.1f, \"cpu_us\": %.4f, \"p50_us\": %.2f,"
         " \"p99_us\": %.2f, \"done_without_response\": %ld}\n",
         inputs, inputs / took, (double)used / 1e3 / inputs, p50, p99, without_response);
}
