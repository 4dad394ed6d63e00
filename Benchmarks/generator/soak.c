// SPDX-License-Identifier: Apache-2.0
//
// Inputs of all kinds at a steady rate, from frontends that disconnect and resume their sessions, and
// from frontends that close their sessions and open new ones.
#include <stdio.h>
#include <string.h>

#include "loop.h"
#include "run.h"
#include "server.h"

static void nothing(struct frontend *frontend) { (void)frontend; }

/// Closes the session and opens another one, with inputs of another kind.
static void renew(const struct run *run, struct frontend *frontend) {
  compare(frontend);
  put_text(frontend, "\"method\":\"session/close\"");
  flush(frontend);
  leave(frontend);
  frontend->kind = (frontend->kind + 1) % KINDS;
  connect_to(frontend, &run->target);
  prepare(frontend, true);
  watch(frontend, true);
}

/// The frontend that reconnects next; it sends no new cycle before that.
static struct frontend *leaving;

/// Reconnects the leaving frontend if it has no open request and its cycle is complete; returns true if
/// it has reconnected.
static bool reconnect(const struct run *run, bool in_new_session) {
  if (open_requests(leaving)) return false;
  if (leaving->inputs % cycle(leaving->kind)) {
    put_input(leaving);
    flush(leaving);
    return false;
  }
  if (in_new_session)
    renew(run, leaving);
  else
    resume(leaving, &run->target);
  leaving = NULL;
  return true;
}

/// Sends the inputs that are due, one from each frontend in turn.
static long send_due(const struct run *run, struct frontend *all, long due) {
  static int next;
  long sent = 0;
  for (int tried = 0; tried < run->connections && sent < due; tried++) {
    struct frontend *frontend = &all[next];
    next = (next + 1) % run->connections;
    if (open_requests(frontend) >= run->in_flight || frontend->waits_to_write ||
        frontend == leaving)
      continue;
    put_input(frontend);
    flush(frontend);
    sent++;
  }
  return sent;
}

/// A frontend of the baseline.
static struct frontend *control_of(const struct run *run, struct histogram *latencies) {
  struct run control = {.target = run->control, .store_kind = run->store_kind, .items = 10};
  return frontends(&control, 1, latencies);
}

/// The measurements of one interval.
struct interval {
  struct histogram latencies, control_latencies;
  uint64_t began, used;
  long inputs;
};

static void print_interval(const struct run *run, const struct interval *interval, double elapsed, long reconnects) {
  double used = (double)(processor_time(run->server) - interval->used) / 1e3;
  printf("{\"elapsed\": %.2f, \"inputs\": %ld, \"cpu_us\": %.3f, \"p50_us\": %.2f,"
         " \"p99_us\": %.2f, \"control_p50_us\": %.2f, \"resident_kib\": %ld, \"reconnects\": %ld}\n",
         elapsed, interval->inputs, interval->inputs ? used / (double)interval->inputs : 0,
         quantile(&interval->latencies, .5), quantile(&interval->latencies, .99),
         quantile(&interval->control_latencies, .5), resident(run->server), reconnects);
  fflush(stdout);
}

static void begin(const struct run *run, struct interval *interval) {
  memset(interval, 0, sizeof *interval);
  interval->began = now();
  interval->used = processor_time(run->server);
}

void run_soak(const struct run *run) {
  static struct interval interval;
  struct run with_sessions = *run;
  with_sessions.has_sessions = true;
  struct frontend *all = frontends(&with_sessions, run->connections, &interval.latencies);
  struct frontend *control = control_of(run, &interval.control_latencies);
  begin(run, &interval);
  uint64_t began = interval.began, chosen = began, controlled = began;
  uint64_t end = began + (uint64_t)(run->seconds * 1e9);
  double rate = run->rate > 0 ? run->rate : 5000;
  long sent = 0, reconnects = 0;
  int coming = 0;
  for (uint64_t time = began; time < end; time = now()) {
    long due = (long)(rate * (double)(time - began) / 1e9) - sent;
    long more = send_due(run, all, due);
    sent += more;
    interval.inputs += more;
    if (!turn(1, nothing)) fail("the server has closed a connection");
    if (time - controlled >= 5000000 && !open_requests(control)) {
      controlled = time;
      put_input(control);
      flush(control);
    }
    if (!leaving && time - chosen >= 20000000) {
      chosen = time;
      coming = (coming + 1) % run->connections;
      leaving = &all[coming];
    }
    if (leaving) reconnects += reconnect(run, reconnects % 2);
    if (time - interval.began >= (uint64_t)(run->interval * 1e9)) {
      print_interval(run, &interval, (double)(time - began) / 1e9, reconnects);
      begin(run, &interval);
    }
  }
  for (int at = 0; at < run->connections; at++) {
    wait_for_responses(&all[at]);
    if (all[at].inputs % cycle(all[at].kind)) put_input(&all[at]);
    wait_for_responses(&all[at]);
    compare(&all[at]);
  }
}
