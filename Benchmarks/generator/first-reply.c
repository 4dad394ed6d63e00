// SPDX-License-Identifier: Apache-2.0
//
// How long a frontend that starts the server waits for its first answer.
#include <stdio.h>

#include "run.h"
#include "server.h"

void run_first_reply(const struct run *run) {
  static struct histogram times;
  struct bytes request = {0};
  add_preparation(&request, run->kind, 0, run->items);
  uint64_t end = now() + (uint64_t)(run->seconds * 1e9);
  while (now() < end || times.count < 5) {
    struct frontend frontend = {.kind = run->kind, .items = run->items};
    uint64_t began = now();
    connect_to(&frontend, &run->target);
    put_request(&frontend, &request);
    wait_for_answers(&frontend);
    record(&times, now() - began);
    leave(&frontend);
  }
  printf("{\"starts\": %lu, \"p50_us\": %.1f, \"shortest_us\": %.1f}\n",
         (unsigned long)times.count, quantile(&times, .5), quantile(&times, 0));
  drop(&request);
}
