// SPDX-License-Identifier: Apache-2.0
//
// A list of todos with increasing ids: a flat array.
#ifndef LIST_H
#define LIST_H

#include "../common/bytes.h"

struct todo {
  int64_t id;
  /// JSON text without its quotation marks, owned by the list.
  char *title;
  uint32_t count;
  bool is_completed;
};

struct list {
  struct todo *todos;
  size_t count, room;
  /// The number of todos that were ever created; the next id is one higher.
  int64_t made;
};

struct todo *append_todo(struct list *list, struct part title);
void set_title(struct todo *todo, struct part title);
void remove_todo(struct list *list, size_t place);
/// Returns the index of a todo, or the count of the list if it is missing. O(log count).
size_t place_of(const struct list *list, struct part id);
void drop_list(struct list *list);

void add_todo_json(struct bytes *out, const struct todo *todo);
void add_state_json(struct bytes *out, const struct list *list);
uint32_t list_digest(const struct list *list);

#endif
