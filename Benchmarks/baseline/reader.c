// SPDX-License-Identifier: Apache-2.0
#include "reader.h"

#include <string.h>

static void skip_space(struct reader *reader) {
  while (reader->at < reader->end &&
         (*reader->at == ' ' || *reader->at == '\t' || *reader->at == '\r' || *reader->at == '\n'))
    reader->at++;
}

static bool next_is(struct reader *reader, char byte) {
  skip_space(reader);
  if (reader->at == reader->end || *reader->at != byte) return false;
  reader->at++;
  return true;
}

static void expect(struct reader *reader, char byte) {
  if (!next_is(reader, byte)) reader->is_wrong = true;
}

static struct part string(struct reader *reader) {
  expect(reader, '"');
  const char *start = reader->at;
  while (reader->at < reader->end && *reader->at != '"') reader->at += *reader->at == '\\' ? 2 : 1;
  if (reader->at >= reader->end) {
    reader->is_wrong = true;
    reader->at = reader->end;
    return (struct part){0};
  }
  return (struct part){start, (size_t)(reader->at++ - start)};
}

/// Reads any value and returns its text.
static struct part value(struct reader *reader) {
  skip_space(reader);
  const char *start = reader->at;
  int depth = 0;
  do {
    skip_space(reader);
    if (reader->at == reader->end) {
      reader->is_wrong = true;
      break;
    }
    char byte = *reader->at;
    if (byte == '"') {
      string(reader);
    } else if (byte == '{' || byte == '[') {
      depth++;
      reader->at++;
    } else if (byte == '}' || byte == ']') {
      depth--;
      reader->at++;
    } else if (byte == ',' || byte == ':') {
      reader->at++;
    } else {
      while (reader->at < reader->end && !strchr(",:]} \t\r\n", *reader->at)) reader->at++;
    }
  } while (depth > 0 && !reader->is_wrong);
  return (struct part){start, (size_t)(reader->at - start)};
}

static int64_t number(struct reader *reader) {
  struct part digits = value(reader);
  int64_t number = 0;
  for (size_t at = 0; at < digits.count; at++) {
    if (digits.start[at] < '0' || digits.start[at] > '9') reader->is_wrong = true;
    number = number * 10 + (digits.start[at] - '0');
  }
  return number;
}

/// Reads an object; calls `member` for each member, which reads the value.
static void object(
    struct reader *reader, struct request *request,
    void (*member)(struct reader *, struct part, struct request *)) {
  expect(reader, '{');
  if (next_is(reader, '}')) return;
  do {
    struct part name = string(reader);
    expect(reader, ':');
    if (reader->is_wrong) return;
    member(reader, name, request);
  } while (!reader->is_wrong && next_is(reader, ','));
  expect(reader, '}');
}

static void input_member(struct reader *reader, struct part name, struct request *request) {
  if (IS(name, "type"))
    request->type = string(reader);
  else if (IS(name, "title"))
    request->title = string(reader);
  else if (IS(name, "id"))
    request->todo = string(reader);
  else
    value(reader);
}

static void memory_member(struct reader *reader, struct part name, struct request *request) {
  if (IS(name, "count"))
    request->count = number(reader);
  else
    value(reader);
}

static void config_member(struct reader *reader, struct part name, struct request *request) {
  if (IS(name, "memory"))
    object(reader, request, memory_member);
  else
    value(reader);
}

static void params_member(struct reader *reader, struct part name, struct request *request) {
  if (IS(name, "input"))
    object(reader, request, input_member);
  else if (IS(name, "store"))
    request->store = string(reader);
  else if (IS(name, "config"))
    object(reader, request, config_member);
  else
    value(reader);
}

static void request_member(struct reader *reader, struct part name, struct request *request) {
  if (IS(name, "method"))
    request->method = string(reader);
  else if (IS(name, "id"))
    request->id = value(reader);
  else if (IS(name, "params"))
    object(reader, request, params_member);
  else
    value(reader);
}

bool read_request(struct part line, struct request *request) {
  struct reader reader = {line.start, line.start + line.count, false};
  *request = (struct request){0};
  object(&reader, request, request_member);
  skip_space(&reader);
  return !reader.is_wrong && reader.at == reader.end;
}
