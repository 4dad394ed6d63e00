// SPDX-License-Identifier: Apache-2.0
#include "service.h"

#include <stdio.h>
#include <string.h>

#include "reader.h"

static void begin_response(struct bytes *out, struct part id) {
  ADD(out, "{\"jsonrpc\":\"2.0\",\"id\":");
  if (id.count)
    add(out, id.start, id.count);
  else
    ADD(out, "null");
}

static void refuse(struct bytes *out, struct part id, int code, const char *message) {
  begin_response(out, id);
  ADD(out, ",\"error\":{\"code\":");
  add_number(out, code);
  ADD(out, ",\"message\":\"");
  add_text(out, message);
  ADD(out, "\"}}\n");
}

static void respond_to_send(
    struct bytes *out, const struct service *service, struct part id, bool has_changed) {
  begin_response(out, id);
  ADD(out, ",\"result\":{\"revision\":");
  add_number(out, service->revision);
  if (has_changed)
    ADD(out, ",\"changed\":true}}\n");
  else
    ADD(out, ",\"changed\":false}}\n");
}

static void begin_update(struct bytes *out, struct service *service) {
  ADD(out, "{\"jsonrpc\":\"2.0\",\"method\":\"store/changed\",\"params\":{\"store\":\"todo\",\"base\":");
  add_number(out, service->revision);
  ADD(out, ",\"revision\":");
  add_number(out, ++service->revision);
  ADD(out, ",\"patch\":[{\"op\":\"");
}

static void end_update(struct bytes *out, struct part id) {
  ADD(out, "}],\"applied\":");
  add(out, id.start, id.count);
  ADD(out, "}}\n");
}

static void add_place(struct bytes *out, const char *operation, size_t place) {
  add_text(out, operation);
  ADD(out, "\",\"path\":\"/todos/");
  add_number(out, (int64_t)place);
}

static void add_state(struct bytes *out, const struct service *service) {
  if (service->is_content)
    add_state_json(out, &service->list);
  else
    ADD(out, "{\"type\":\"loading\"}");
}

/// Carries out an input and writes its update; false if nothing changes.
static bool change(struct service *service, const struct request *request, struct bytes *out) {
  struct list *list = &service->list;
  // Without a subscription the update is removed at the end.
  size_t before = out->count;
  if (IS(request->type, "todoAdded")) {
    struct todo *todo = append_todo(list, request->title);
    begin_update(out, service);
    add_place(out, "add", list->count - 1);
    ADD(out, "\",\"value\":");
    add_todo_json(out, todo);
  } else if (IS(request->type, "stateRequested")) {
    if (service->is_content) return false;
    service->is_content = true;
    begin_update(out, service);
    ADD(out, "replace\",\"path\":\"\",\"value\":");
    add_state_json(out, list);
  } else {
    size_t place = place_of(list, request->todo);
    if (place == list->count) return false;
    begin_update(out, service);
    if (IS(request->type, "todoRemoved")) {
      remove_todo(list, place);
      add_place(out, "remove", place);
      ADD(out, "\"");
    } else {
      set_title(&list->todos[place], request->title);
      add_place(out, "replace", place);
      ADD(out, "/title\",\"value\":\"");
      add(out, request->title.start, request->title.count);
      ADD(out, "\"");
    }
  }
  end_update(out, request->id);
  if (!service->is_subscribed) out->count = before;
  return true;
}

static bool is_input(struct part type) {
  return IS(type, "todoAdded") || IS(type, "todoRemoved") || IS(type, "todoRenamed") ||
         IS(type, "stateRequested");
}

static void open_list(struct service *service, int64_t count) {
  drop_list(&service->list);
  service->list = (struct list){0};
  for (int64_t number = 1; number <= count; number++) {
    char title[32];
    int length = snprintf(title, sizeof title, "Todo %lld", (long long)number);
    append_todo(&service->list, (struct part){title, (size_t)length});
  }
}

void take_line(struct service *service, struct part line, struct bytes *out) {
  struct request request;
  if (!read_request(line, &request)) {
    refuse(out, (struct part){0}, -32700, "not JSON");
  } else if (IS(request.method, "store/send")) {
    if (is_input(request.type))
      respond_to_send(out, service, request.id, change(service, &request, out));
    else
      refuse(out, request.id, -32602, "no such input");
  } else if (IS(request.method, "store/open")) {
    open_list(service, request.count);
    begin_response(out, request.id);
    ADD(out, ",\"result\":{\"revision\":0}}\n");
  } else if (IS(request.method, "store/subscribe") || IS(request.method, "store/state")) {
    bool subscribes = IS(request.method, "store/subscribe");
    begin_response(out, request.id);
    ADD(out, ",\"result\":{\"revision\":");
    add_number(out, service->revision);
    ADD(out, ",\"state\":");
    add_state(out, service);
    if (!subscribes) {
      ADD(out, ",\"digest\":");
      add_number(out, list_digest(&service->list));
    }
    ADD(out, "}}\n");
    service->is_subscribed |= subscribes;
  } else {
    refuse(out, request.id, -32601, "no such method");
  }
}
