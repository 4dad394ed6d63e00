// SPDX-License-Identifier: Apache-2.0
#include "frontend.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/digest.h"
#include "loop.h"
#include "server.h"

enum { READ_SIZE = 256 << 10 };

// The members that are searched for are within this many bytes of the start or the end of a frame.
enum { HEAD = 224, TAIL = 64 };

/// Returns the number after `"name":`, or `missing`; null counts as missing.
static long number_after(struct part text, const char *name, long missing) {
  char pattern[32];
  size_t count = (size_t)snprintf(pattern, sizeof pattern, "\"%s\":", name);
  const char *found = memmem(text.start, text.count, pattern, count);
  if (!found) return missing;
  const char *digit = found + count, *end = text.start + text.count;
  long number = 0;
  if (digit == end || *digit < '0' || *digit > '9') return missing;
  while (digit < end && *digit >= '0' && *digit <= '9') number = number * 10 + (*digit++ - '0');
  return number;
}

static bool has(struct part text, const char *pattern) {
  return memmem(text.start, text.count, pattern, strlen(pattern)) != NULL;
}

static struct part head(struct part frame) {
  return (struct part){frame.start, frame.count < HEAD ? frame.count : HEAD};
}

static struct part tail(struct part frame) {
  size_t count = frame.count < TAIL ? frame.count : TAIL;
  return (struct part){frame.start + frame.count - count, count};
}

_Noreturn static void wrong(const char *what, struct part frame) {
  fail("%s: %.*s", what, (int)(frame.count < 600 ? frame.count : 600), frame.start);
}

static void take_change(struct frontend *frontend, struct part frame) {
  long base = number_after(head(frame), "base", -1);
  long revision = number_after(head(frame), "revision", -1);
  if (base != frontend->revision) {
    fprintf(stderr, "last revision: %ld\n", frontend->revision);
    wrong("the base of an update is not the last revision", frame);
  }
  if (revision <= base) wrong("the revision of an update is not above its base", frame);
  if (!has(head(frame), "\"patch\":[{\"op\":\"") && !has(head(frame), "\"state\":"))
    wrong("an update has no operations", frame);
  frontend->coalesced += revision > base + 1;
  frontend->revision = revision;
  frontend->applied = number_after(tail(frame), "applied", -1);
  frontend->updates++;
}

static void take_response(struct frontend *frontend, struct part frame, uint64_t time) {
  struct part beginning = head(frame);
  if (has(beginning, "\"error\":{")) wrong("an error response", frame);
  long id = number_after(beginning, "id", -1);
  if (id != frontend->responses + 1) wrong("a response out of order", frame);
  if (id > frontend->sent) wrong("a response without a request", frame);
  frontend->responses = id;
  if (frontend->latencies) record(frontend->latencies, time - frontend->times[id % MOST_OPEN]);

  long revision = number_after(beginning, "revision", -1);
  bool has_state = has(beginning, "\"state\":");
  if (has_state && !has(beginning, "\"stores\":")) {
    if (has(tail(frame), "\"digest\":")) {
      if (revision != frontend->revision) wrong("a response before its updates", frame);
      frontend->digest = (uint32_t)number_after(tail(frame), "digest", 0);
    }
    frontend->revision = revision;
  } else if (frontend->revision >= 0 && revision >= 0 && has(tail(frame), "\"changed\":true")) {
    if (revision != frontend->revision) wrong("a response before its update", frame);
    if (frontend->applied != id) wrong("the update before the response belongs to another input", frame);
  } else if (frontend->inputs > 0 && has(tail(frame), "\"changed\":false")) {
    wrong("an input that changes nothing", frame);
  } else if (has(beginning, "\"session\":\"")) {
    const char *handle = (char *)memmem(frame.start, frame.count, "\"session\":\"", 11) + 11;
    size_t count = strcspn(handle, "\"");
    if (count >= sizeof frontend->session) wrong("a session handle is too long", frame);
    memcpy(frontend->session, handle, count);
    frontend->session[count] = 0;
  } else if (has(beginning, "\"snapshot\":")) {
    frontend->revision = revision;
  }
}

static void take_frame(struct frontend *frontend, struct part frame, uint64_t time) {
  struct part beginning = {frame.start, frame.count < 64 ? frame.count : 64};
  if (!has(beginning, "\"method\":"))
    take_response(frontend, frame, time);
  else if (has(beginning, "\"store/changed\""))
    take_change(frontend, frame);
  else if (has(beginning, "/closed\""))
    wrong("the server has closed a store or the session", frame);
}

bool take(struct frontend *frontend) {
  static struct bytes shared;
  struct bytes *partial = &frontend->partial;
  shared.count = 0;
  reserve(&shared, partial->count + READ_SIZE);
  add(&shared, partial->start ? partial->start : "", partial->count);
  ssize_t count = read(frontend->readable, shared.start + shared.count, READ_SIZE);
  if (count < 0) {
    if (errno == EAGAIN || errno == EINTR) return true;
    if (errno == ECONNRESET) return false;
    fail("cannot read: %s", strerror(errno));
  }
  if (count == 0) return false;
  uint64_t time = now();
  frontend->received += (uint64_t)count;
  shared.count += (size_t)count;
  const char *frame = shared.start, *end = frame + shared.count, *newline;
  const char *search = frame + frontend->searched;
  while (search < end && (newline = memchr(search, '\n', (size_t)(end - search)))) {
    take_frame(frontend, (struct part){frame, (size_t)(newline - frame)}, time);
    frame = search = newline + 1;
  }
  partial->count = 0;
  if (frame < end)
    add(partial, frame, (size_t)(end - frame));
  else if (partial->room > 64 << 10)
    drop(partial);
  frontend->searched = partial->count;
  return true;
}

void put_request(struct frontend *frontend, const struct bytes *rest) {
  struct bytes *out = &frontend->outgoing;
  if (open_requests(frontend) >= MOST_OPEN) fail("too many open requests");
  long id = ++frontend->sent;
  frontend->times[id % MOST_OPEN] = now();
  ADD(out, "{\"jsonrpc\":\"2.0\",\"id\":");
  add_number(out, id);
  ADD(out, ",");
  add(out, rest->start, rest->count);
  ADD(out, "}\n");
}

void put_text(struct frontend *frontend, const char *rest) {
  struct bytes text = {0};
  add_text(&text, rest);
  put_request(frontend, &text);
  drop(&text);
}

void put_input(struct frontend *frontend) {
  static struct bytes text;
  text.count = 0;
  add_input(&text, frontend->kind, frontend->inputs++, frontend->items);
  put_request(frontend, &text);
}

void flush(struct frontend *frontend) {
  struct bytes *out = &frontend->outgoing;
  while (frontend->written < out->count) {
    ssize_t count = write(
        frontend->writable, out->start + frontend->written, out->count - frontend->written);
    if (count < 0) {
      if (errno == EINTR) continue;
      // Reading reports the end, after the last output of the server.
      if (errno == EPIPE || errno == ECONNRESET) break;
      if (errno != EAGAIN) fail("cannot write: %s", strerror(errno));
      wait_to_write(frontend, true);
      return;
    }
    frontend->written += (size_t)count;
  }
  out->count = frontend->written = 0;
  wait_to_write(frontend, false);
}

// One request after the other.

void wait_for_responses(struct frontend *frontend) {
  flush(frontend);
  while (open_requests(frontend) > 0) {
    struct pollfd polled[2] = {
        {.fd = frontend->readable, .events = POLLIN},
        {.fd = frontend->waits_to_write ? frontend->writable : -1, .events = POLLOUT}};
    if (poll(polled, 2, 120000) == 0) fail("no response for two minutes");
    if (polled[1].revents) flush(frontend);
    if (polled[0].revents && !take(frontend)) fail("the server has closed a connection");
  }
}

void ask(struct frontend *frontend, const char *rest) {
  put_text(frontend, rest);
  wait_for_responses(frontend);
}

void prepare(struct frontend *frontend, bool has_session) {
  struct histogram *latencies = frontend->latencies;
  frontend->latencies = NULL;
  frontend->revision = -1;
  if (has_session) put_text(frontend, "\"method\":\"session/open\"");
  struct bytes text = {0};
  for (int number = 0; number < preparations(frontend->kind); number++) {
    text.count = 0;
    add_preparation(&text, frontend->kind, frontend->store_kind, number, frontend->items);
    put_request(frontend, &text);
    // A program may respond to an input after the server has responded to the next request.
    wait_for_responses(frontend);
  }
  drop(&text);
  frontend->latencies = latencies;
}

void attach(struct frontend *frontend, const char *session, long revision, bool is_observer) {
  char request[256], held[24] = "null";
  if (revision >= 0) snprintf(held, sizeof held, "%ld", revision);
  snprintf(request, sizeof request,
           "\"method\":\"session/attach\",\"params\":{\"session\":\"%s\",\"revisions\":{\"%s\":%s}%s}",
           session, store_name(frontend->kind), held,
           is_observer ? ",\"role\":\"observer\"" : "");
  snprintf(frontend->session, sizeof frontend->session, "%s", session);
  frontend->revision = revision;
  frontend->is_observer = is_observer;
  struct histogram *latencies = frontend->latencies;
  frontend->latencies = NULL;
  ask(frontend, request);
  frontend->latencies = latencies;
}

void compare(struct frontend *frontend) {
  char request[80];
  struct bytes state = {0};
  bool is_known = expected_state(&state, frontend->kind, frontend->inputs, frontend->items);
  snprintf(request, sizeof request, "\"method\":\"store/state\",\"params\":{\"store\":\"%s\"}",
           store_name(frontend->kind));
  struct histogram *latencies = frontend->latencies;
  frontend->latencies = NULL;
  ask(frontend, request);
  frontend->latencies = latencies;
  if (is_known && digest(&state) != frontend->digest)
    fail("after %ld inputs %s should be %u and is %u: %.300s", frontend->inputs,
         kind_name(frontend->kind), digest(&state), frontend->digest, state.start);
  drop(&state);
}
