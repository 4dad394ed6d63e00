// SPDX-License-Identifier: Apache-2.0
//
// Connections with inputs in flight: the server's processor time per input, and the response times.
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "server.h"

struct sum {
  long inputs, updates, coalesced;
  uint64_t received;
};

static struct sum sum(const struct frontend *all, int count) {
  struct sum sum = {0};
  for (int at = 0; at < count; at++) {
    sum.inputs += all[at].inputs;
    sum.updates += all[at].updates;
    sum.coalesced += all[at].coalesced;
    sum.received += all[at].received;
  }
  return sum;
}

void run_load(const struct run *run) {
  static struct histogram latencies;
  struct frontend *all = frontends(run, run->connections, &latencies);
  if (run->relay.address)
    for (int at = 0; at < run->connections; at++) resume(&all[at], &run->relay);
  pid_t server = run->server ? run->server : all->process;
  send_inputs(run, all, run->connections, run->warm_up);

  memset(&latencies, 0, sizeof latencies);
  struct sum before = sum(all, run->connections);
  uint64_t began = now(), used = processor_time(server);
  send_inputs(run, all, run->connections, run->seconds);
  used = processor_time(server) - used;
  double took = (double)(now() - began) / 1e9;
  struct sum after = sum(all, run->connections);

  for (int at = 0; at < run->connections; at++) compare(&all[at]);
  double inputs = (double)(after.inputs - before.inputs);
  printf("{\"inputs\": %.0f, \"seconds\": %.4f, \"per_second\": %.1f, \"cpu_us\": %.4f,"
         " \"busy\": %.3f, \"p50_us\": %.2f, \"p99_us\": %.2f, \"longest_us\": %.1f,"
         " \"updates_per_input\": %.4f, \"coalesced\": %ld, \"bytes_per_input\": %.1f,"
         " \"resident_kib\": %ld}\n",
         inputs, took, inputs / took, (double)used / 1e3 / inputs, (double)used / 1e9 / took,
         quantile(&latencies, .5), quantile(&latencies, .99), (double)latencies.longest / 1e3,
         (double)(after.updates - before.updates) / inputs, after.coalesced - before.coalesced,
         (double)(after.received - before.received) / inputs, resident(server));
  for (int at = 0; at < run->connections; at++) leave(&all[at]);
}
