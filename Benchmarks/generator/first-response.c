// SPDX-License-Identifier: Apache-2.0
//
// The time that a frontend which starts the server waits for its first response.
//
// Several commands take turns, so that other load on the machine affects all of them equally.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "run.h"
#include "server.h"

enum { MOST_COMMANDS = 16 };

/// Splits the words at each `--`; returns the number of commands.
static int split(char **words, char ***commands) {
  int count = 1;
  commands[0] = words;
  for (; words && *words; words++)
    if (!strcmp(*words, "--")) {
      if (count == MOST_COMMANDS) fail("more than %d commands", MOST_COMMANDS);
      *words = NULL;
      commands[count++] = words + 1;
    }
  return count;
}

static void start(const struct run *run, char **command, struct histogram *times) {
  struct target target = run->target;
  struct frontend frontend = {.kind = run->kind, .items = run->items};
  struct bytes request = {0};
  add_preparation(&request, run->kind, run->store_kind, 0, run->items);
  target.command = command;
  uint64_t began = now();
  connect_to(&frontend, &target);
  put_request(&frontend, &request);
  wait_for_responses(&frontend);
  record(times, now() - began);
  // A server with listeners does not end when its input ends.
  if (frontend.process) kill(frontend.process, SIGTERM);
  leave(&frontend);
  drop(&request);
}

void run_first_response(const struct run *run) {
  static struct histogram times[MOST_COMMANDS];
  char **commands[MOST_COMMANDS];
  int count = split(run->target.command, commands);
  uint64_t end = now() + (uint64_t)(run->seconds * 1e9);
  while (now() < end || times[0].count < 5)
    for (int at = 0; at < count; at++) start(run, commands[at], &times[at]);
  for (int at = 0; at < count; at++)
    printf("{\"starts\": %lu, \"p50_us\": %.1f, \"shortest_us\": %.1f}\n",
           (unsigned long)times[at].count, quantile(&times[at], .5), quantile(&times[at], 0));
}
