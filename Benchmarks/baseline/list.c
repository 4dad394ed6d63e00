// SPDX-License-Identifier: Apache-2.0
#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/digest.h"

void set_title(struct todo *todo, struct part title) {
  if (title.count > todo->count) {
    free(todo->title);
    todo->title = malloc(title.count);
    if (!todo->title) fail("no memory");
  }
  if (title.count) memcpy(todo->title, title.start, title.count);
  todo->count = (uint32_t)title.count;
}

struct todo *append_todo(struct list *list, struct part title) {
  if (list->count == list->room) {
    list->room = list->room ? list->room * 2 : 8;
    list->todos = realloc(list->todos, list->room * sizeof *list->todos);
    if (!list->todos) fail("no memory");
  }
  struct todo *todo = &list->todos[list->count++];
  *todo = (struct todo){.id = ++list->made};
  set_title(todo, title);
  return todo;
}

void remove_todo(struct list *list, size_t place) {
  free(list->todos[place].title);
  list->count--;
  memmove(&list->todos[place], &list->todos[place + 1],
          (list->count - place) * sizeof *list->todos);
}

size_t place_of(const struct list *list, struct part id) {
  int64_t wanted = 0;
  for (size_t at = 0; at < id.count; at++) wanted = wanted * 10 + (id.start[at] - '0');
  size_t low = 0, high = list->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (list->todos[middle].id < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->count && list->todos[low].id == wanted ? low : list->count;
}

void drop_list(struct list *list) {
  for (size_t place = 0; place < list->count; place++) free(list->todos[place].title);
  free(list->todos);
}

void add_todo_json(struct bytes *out, const struct todo *todo) {
  ADD(out, "{\"id\":\"");
  add_number(out, todo->id);
  ADD(out, "\",\"title\":\"");
  add(out, todo->title, todo->count);
  if (todo->is_completed)
    ADD(out, "\",\"completed\":true}");
  else
    ADD(out, "\",\"completed\":false}");
}

void add_state_json(struct bytes *out, const struct list *list) {
  ADD(out, "{\"type\":\"content\",\"todos\":[");
  for (size_t place = 0; place < list->count; place++) {
    if (place) ADD(out, ",");
    add_todo_json(out, &list->todos[place]);
  }
  ADD(out, "]}");
}

uint32_t list_digest(const struct list *list) {
  struct bytes text = {0};
  ADD(&text, "{\"todos\":[");
  for (size_t place = 0; place < list->count; place++) {
    const struct todo *todo = &list->todos[place];
    char id[24];
    if (place) ADD(&text, ",");
    add_canonical_todo(
        &text, (struct part){id, (size_t)snprintf(id, sizeof id, "%lld", (long long)todo->id)},
        (struct part){todo->title, todo->count}, todo->is_completed);
  }
  ADD(&text, "],\"type\":\"content\"}");
  uint32_t found = digest(&text);
  drop(&text);
  return found;
}
