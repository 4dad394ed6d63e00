// SPDX-License-Identifier: Apache-2.0
//
// The server's memory per connection, for many connections with an open, subscribed and changed store.
#include <stdio.h>
#include <time.h>

#include "run.h"
#include "server.h"

static void use(struct frontend *all, int count) {
  for (int at = 0; at < count; at++) {
    for (int input = 0; input < cycle(all[at].kind); input++) put_input(&all[at]);
    wait_for_responses(&all[at]);
  }
}

static long settled(pid_t server) {
  nanosleep(&(struct timespec){1, 500000000}, NULL);
  return resident(server);
}

void run_idle(const struct run *run) {
  // The memory for the first connections is not the cost of an additional one.
  enum { FIRST = 20 };
  use(frontends(run, FIRST, NULL), FIRST);
  long before = settled(run->server);
  uint64_t began = now();
  struct frontend *all = frontends(run, run->connections, NULL);
  use(all, run->connections);
  double took = (double)(now() - began) / 1e9;
  long after = settled(run->server);
  for (int at = 0; at < run->connections; at++) compare(&all[at]);
  printf("{\"connections\": %d, \"kib_each\": %.3f, \"before_kib\": %ld, \"seconds\": %.3f}\n",
         run->connections, (double)(after - before) / run->connections, before, took);
}
