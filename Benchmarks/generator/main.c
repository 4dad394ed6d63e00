// SPDX-License-Identifier: Apache-2.0
//
// The load generator: one thread, one loop. It prints its measurements as JSON on standard output, and
// ends with status 2 after an unexpected response.
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "run.h"
#include "server.h"

static const char usage[] =
    "generator MODE [OPTION…] --tcp ADDRESS:PORT | --stdio [--] COMMAND…\n"
    "\n"
    "  load            inputs over all connections: processor time per input, response times\n"
    "  broadcast       inputs of one frontend of a session with --subscribers frontends\n"
    "  idle            memory per connection, for connections with an open store\n"
    "  first-response  time from the start of a server to its first response; several commands,\n"
    "                  separated by --, take turns and have one line each\n"
    "  kill            inputs until the generator kills the server (--server); then, at the same\n"
    "                  address, a check that every acknowledged input was applied exactly once\n"
    "  soak            inputs of all kinds with reconnects; one line per --interval\n"
    "\n"
    "  --connections N  --in-flight N  --subscribers N  --items N (in each list)\n"
    "  --kind add-remove|rename|move|remove-middle|remove-first|form|balance|loading\n"
    "  --store-kind NAME (of the todo lists; default: todo)\n"
    "  --warm-up SECONDS  --seconds SECONDS  --interval SECONDS  --rate INPUTS (per second)\n"
    "  --sessions (each connection has one)  --control ADDRESS:PORT (of the baseline, for soak)\n"
    "  --relay ADDRESS:PORT (of another node, over which load resumes its sessions)\n"
    "  --server PROCESS  --core N  --server-core N\n";

static const struct {
  const char *name;
  void (*run)(const struct run *);
} ways[] = {
    {"load", run_load}, {"broadcast", run_broadcast},     {"idle", run_idle},
    {"kill", run_kill}, {"first-response", run_first_response}, {"soak", run_soak},
};

int main(int count, char **words) {
  size_t way = 0;
  while (way < sizeof ways / sizeof *ways && (count < 2 || strcmp(words[1], ways[way].name))) way++;
  static const struct option options[] = {
      {"tcp", required_argument, NULL, 'a'},        {"stdio", no_argument, NULL, 'p'},
      {"connections", required_argument, NULL, 'c'}, {"in-flight", required_argument, NULL, 'f'},
      {"subscribers", required_argument, NULL, 'u'}, {"items", required_argument, NULL, 'n'},
      {"kind", required_argument, NULL, 'k'},        {"warm-up", required_argument, NULL, 'w'},
      {"seconds", required_argument, NULL, 's'},     {"interval", required_argument, NULL, 'i'},
      {"rate", required_argument, NULL, 'r'},        {"sessions", no_argument, NULL, 'o'},
      {"store-kind", required_argument, NULL, 'd'},
      {"control", required_argument, NULL, 't'},     {"relay", required_argument, NULL, 'l'},
      {"server", required_argument, NULL, 'v'},      {"core", required_argument, NULL, 'g'},
      {"server-core", required_argument, NULL, 'y'}, {0}};
  struct run run = {.target.server_core = -1, .connections = 1, .in_flight = 1, .subscribers = 1,
                    .items = 100, .store_kind = "todo", .seconds = 1, .interval = 10};
  bool has_command = false;
  int option, core = -1;
  // The first word is the mode.
  optind = 2;
  while ((option = getopt_long(count, words, "+", options, NULL)) != -1) switch (option) {
      case 'a': run.target.address = optarg; break;
      case 'p': has_command = true; break;
      case 'c': run.connections = atoi(optarg); break;
      case 'f': run.in_flight = atoi(optarg); break;
      case 'u': run.subscribers = atoi(optarg); break;
      case 'n': run.items = atol(optarg); break;
      case 'k': run.kind = kind_named(optarg); break;
      case 'd': run.store_kind = optarg; break;
      case 'w': run.warm_up = atof(optarg); break;
      case 's': run.seconds = atof(optarg); break;
      case 'i': run.interval = atof(optarg); break;
      case 'r': run.rate = atof(optarg); break;
      case 'o': run.has_sessions = true; break;
      case 't': run.control.address = optarg; break;
      case 'l': run.relay.address = optarg; break;
      case 'v': run.server = (pid_t)atoi(optarg); break;
      case 'g': core = atoi(optarg); break;
      case 'y': run.target.server_core = atoi(optarg); break;
      default: way = sizeof ways / sizeof *ways;
    }
  if (has_command && optind < count) run.target.command = words + optind;
  bool is_reached = run.target.command || (run.target.address && optind == count);
  bool is_soak = way < sizeof ways / sizeof *ways && ways[way].run == run_soak;
  if (way == sizeof ways / sizeof *ways || !is_reached || is_soak != (run.control.address != NULL) || run.kind == KINDS ||
      run.in_flight < 1 || run.in_flight > MOST_OPEN || run.connections < 1) {
    fputs(usage, stderr);
    return 64;
  }

  // The last output of a server that has ended is more useful than a signal.
  signal(SIGPIPE, SIG_IGN);
  struct rlimit descriptors;
  getrlimit(RLIMIT_NOFILE, &descriptors);
  descriptors.rlim_cur = descriptors.rlim_max;
  setrlimit(RLIMIT_NOFILE, &descriptors);
  if (core >= 0) pin(core);
  ways[way].run(&run);
  return 0;
}
