// SPDX-License-Identifier: Apache-2.0
#include "inputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/digest.h"

static const char *const names[KINDS] = {
    "add-remove", "rename", "move", "remove-middle", "remove-first", "form", "balance", "loading"};

enum kind kind_named(const char *name) {
  int kind = 0;
  while (kind < KINDS && strcmp(names[kind], name)) kind++;
  return (enum kind)kind;
}

const char *kind_name(enum kind kind) { return names[kind]; }

static bool is_todo(enum kind kind) { return kind <= REMOVE_FIRST; }

/// The number of todos before the first one that REMOVE_MIDDLE or REMOVE_FIRST removes.
static long kept(enum kind kind, long items) { return kind == REMOVE_FIRST ? 0 : items / 2; }

const char *store_name(enum kind kind) {
  return is_todo(kind) ? "todo" : kind == FORM ? "form" : kind == BALANCE ? "balance" : "loading";
}

int cycle(enum kind kind) { return kind == RENAME ? 1 : 2; }

// Requests.

int preparations(enum kind kind) { return is_todo(kind) ? 3 : kind == FORM ? 1 : 2; }

void add_preparation(
    struct bytes *out, enum kind kind, const char *store_kind, int number, long items) {
  bool subscribes = number == (kind == BALANCE ? 0 : preparations(kind) - 1);
  if (subscribes) {
    ADD(out, "\"method\":\"store/subscribe\",\"params\":{\"store\":\"");
    add_text(out, store_name(kind));
    ADD(out, "\"}");
  } else if (is_todo(kind) && number == 0) {
    ADD(out, "\"method\":\"store/open\",\"params\":{\"store\":\"todo\",\"kind\":\"");
    add_text(out, store_kind);
    ADD(out, "\",\"config\":{\"memory\":{\"count\":");
    add_number(out, items);
    ADD(out, "}}}");
  } else if (is_todo(kind)) {
    ADD(out, "\"method\":\"store/send\",\"params\":{\"store\":\"todo\","
             "\"input\":{\"type\":\"stateRequested\"}}");
  } else if (kind == BALANCE) {
    ADD(out, "\"method\":\"store/send\",\"params\":{\"store\":\"balance\","
             "\"input\":{\"type\":\"viewDidAppear\"},\"settle\":true}");
  } else {
    ADD(out, "\"method\":\"store/open\",\"params\":{\"store\":\"loading\",\"kind\":\"loading\","
             "\"config\":{\"type\":\"mock\",\"states\":["
             "{\"state\":{\"type\":\"loaded\",\"value\":1}}]}}");
  }
}

static void add_type(struct bytes *out, enum kind kind, const char *type) {
  ADD(out, "\"method\":\"store/send\",\"params\":{\"store\":\"");
  add_text(out, store_name(kind));
  ADD(out, "\",\"input\":{\"type\":\"");
  add_text(out, type);
  ADD(out, "\"");
}

static void add_id(struct bytes *out, const char *member, long id) {
  ADD(out, ",\"");
  add_text(out, member);
  ADD(out, "\":\"");
  add_number(out, id);
  ADD(out, "\"");
}

static void add_text_and_number(
    struct bytes *out, const char *member, const char *text, long number) {
  ADD(out, ",\"");
  add_text(out, member);
  ADD(out, "\":\"");
  add_text(out, text);
  add_number(out, number);
  ADD(out, "\"");
}

static const char added[] = "Buy milk and bread ", renamed[] = "Renamed ", entry[] = "swordfish ";

// Visits each todo once before it repeats one: the factor is prime and not the size of a list.
static long scattered(long number, long items) { return number * 7919 % items; }

void add_input(struct bytes *out, enum kind kind, long number, long items) {
  long turn = number / 2;
  bool is_first = number % 2 == 0;
  switch (kind) {
  case ADD_REMOVE:
    add_type(out, kind, is_first ? "todoAdded" : "todoRemoved");
    if (is_first)
      add_text_and_number(out, "title", added, turn);
    else
      add_id(out, "id", items + 1 + turn);
    break;
  case RENAME:
    add_type(out, kind, "todoRenamed");
    add_id(out, "id", scattered(number, items) + 1);
    add_text_and_number(out, "title", renamed, number);
    break;
  case MOVE: {
    // A todo of the second half moves to the first half, and then back to its place.
    long half = items / 2, moved = half + scattered(turn, items - half - 1) + 1;
    add_type(out, kind, "todoMoved");
    add_id(out, "id", moved);
    add_id(out, "before", is_first ? moved - half : moved + 1);
    break;
  }
  case REMOVE_MIDDLE:
  case REMOVE_FIRST:
    // The list grows at its end and shrinks at one place, so the todo at that place is always the oldest
    // from there on.
    add_type(out, kind, is_first ? "todoRemoved" : "todoAdded");
    if (is_first)
      add_id(out, "id", kept(kind, items) + 1 + turn);
    else
      add_text_and_number(out, "title", added, turn);
    break;
  case FORM:
    add_type(out, kind, is_first ? "firstEntryChanged" : "secondEntryChanged");
    add_text_and_number(out, "value", entry, turn);
    break;
  case BALANCE:
    add_type(out, kind, is_first ? "willResignActive" : "didBecomeActive");
    break;
  case LOADING:
    add_type(out, kind, is_first ? "load" : "reset");
    break;
  case KINDS:
    abort();
  }
  ADD(out, "}}");
}

// Expected states.

static void add_todo(struct bytes *text, bool *is_first, long id, const char *title, long number) {
  char written[24], title_written[48];
  struct part id_part = {written, (size_t)snprintf(written, sizeof written, "%ld", id)};
  struct part title_part = {
      title_written, (size_t)snprintf(title_written, sizeof title_written, "%s%ld", title, number)};
  if (!*is_first) ADD(text, ",");
  *is_first = false;
  add_canonical_todo(text, id_part, title_part, false);
}

static void add_todos(struct bytes *text, enum kind kind, long inputs, long items) {
  bool is_first = true;
  long turns = inputs / 2;
  if (kind == RENAME) {
    // The number of the last input that renamed each todo; -1 if there is none.
    long *last = malloc((size_t)items * sizeof *last);
    if (!last) fail("no memory");
    for (long at = 0; at < items; at++) last[at] = -1;
    for (long input = 0; input < inputs; input++) last[scattered(input, items)] = input;
    for (long at = 0; at < items; at++)
      if (last[at] < 0)
        add_todo(text, &is_first, at + 1, "Todo ", at + 1);
      else
        add_todo(text, &is_first, at + 1, renamed, last[at]);
    free(last);
    return;
  }
  bool removes = kind == REMOVE_MIDDLE || kind == REMOVE_FIRST;
  long first_removed = kept(kind, items) + 1, removed = removes ? turns + inputs % 2 : 0;
  long made = removes ? turns : kind == ADD_REMOVE ? inputs % 2 : 0;
  long first_made = kind == ADD_REMOVE ? items + 1 + turns : items + 1;
  for (long id = 1; id <= items; id++)
    if (id < first_removed || id >= first_removed + removed)
      add_todo(text, &is_first, id, "Todo ", id);
  for (long at = 0; at < made; at++)
    if (first_made + at >= first_removed + removed || kind == ADD_REMOVE)
      add_todo(text, &is_first, first_made + at, added, first_made + at - items - 1);
}

bool expected_state(struct bytes *text, enum kind kind, long inputs, long items) {
  text->count = 0;
  if (is_todo(kind)) {
    if (kind == MOVE && inputs % 2) return false;
    ADD(text, "{\"todos\":[");
    add_todos(text, kind, inputs, items);
    ADD(text, "],\"type\":\"content\"}");
    return true;
  }
  if (inputs % 2) return false;
  if (kind == FORM && inputs > 0) {
    ADD(text, "{\"firstEntry\":\"");
    add_text(text, entry);
    add_number(text, inputs / 2 - 1);
    ADD(text, "\",\"secondEntry\":\"");
    add_text(text, entry);
    add_number(text, inputs / 2 - 1);
    ADD(text, "\",\"submitAllowed\":true,\"validationMessages\":[]}");
    return true;
  }
  if (kind == LOADING) {
    ADD(text, "{\"type\":\"idle\"}");
    return true;
  }
  return false;
}
