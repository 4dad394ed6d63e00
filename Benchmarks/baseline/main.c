// SPDX-License-Identifier: Apache-2.0
//
// The baseline: a hand-written program for the same load as Statewire. One thread, epoll, one read and
// one write per turn; no sessions, no limits, no second subscriber, one store kind.
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "service.h"

struct connection {
  int readable, writable;
  bool waits_to_write;
  /// An incomplete line; the bytes to write.
  struct bytes partial, out;
  size_t written;
  struct service service;
};

static int poll_set;

static void control(int operation, struct connection *connection, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = connection};
  epoll_ctl(poll_set, operation, connection->readable, &event);
}

static bool flush(struct connection *connection) {
  struct bytes *out = &connection->out;
  while (connection->written < out->count) {
    ssize_t count = write(
        connection->writable, out->start + connection->written, out->count - connection->written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (!connection->waits_to_write) control(EPOLL_CTL_MOD, connection, EPOLLOUT);
      return connection->waits_to_write = true;
    }
    if (count < 0) return false;
    connection->written += (size_t)count;
  }
  out->count = connection->written = 0;
  if (out->room > 1 << 16) drop(out);
  if (connection->waits_to_write) control(EPOLL_CTL_MOD, connection, EPOLLIN);
  connection->waits_to_write = false;
  return true;
}

static bool take(struct connection *connection) {
  static char shared[1 << 18];
  ssize_t count = read(connection->readable, shared, sizeof shared);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0) return false;
  struct bytes *partial = &connection->partial;
  const char *line = shared, *end = shared + count, *newline;
  if (partial->count) {
    add(partial, shared, (size_t)count);
    line = partial->start;
    end = line + partial->count;
  }
  while (line < end && (newline = memchr(line, '\n', (size_t)(end - line)))) {
    if (newline > line)
      take_line(
          &connection->service, (struct part){line, (size_t)(newline - line)}, &connection->out);
    line = newline + 1;
  }
  if (partial->count) {
    size_t rest = (size_t)(end - line);
    memmove(partial->start, line, rest);
    partial->count = rest;
    if (!rest) drop(partial);
  } else if (line < end) {
    add(partial, line, (size_t)(end - line));
  }
  return flush(connection);
}

static void end(struct connection *connection) {
  close(connection->readable);
  drop(&connection->partial);
  drop(&connection->out);
  drop_list(&connection->service.list);
  free(connection);
}

static void accept_all(int listener) {
  int client;
  while ((client = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
    int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct connection *connection = calloc(1, sizeof *connection);
    if (!connection) fail("no memory");
    connection->readable = connection->writable = client;
    control(EPOLL_CTL_ADD, connection, EPOLLIN);
  }
}

static void serve(int listener) {
  struct epoll_event events[256];
  for (;;) {
    int count = epoll_wait(poll_set, events, 256, -1);
    for (int at = 0; at < count; at++) {
      struct connection *connection = events[at].data.ptr;
      if (!connection)
        accept_all(listener);
      else if (!(connection->waits_to_write ? flush(connection) : take(connection)))
        end(connection);
    }
  }
}

int main(int count, char **words) {
  if (count != 2) fail("baseline PORT | baseline stdio");
  signal(SIGPIPE, SIG_IGN);
  if (!strcmp(words[1], "stdio")) {
    struct connection *only = calloc(1, sizeof *only);
    if (!only) fail("no memory");
    only->writable = 1;
    while (take(only)) {
    }
    end(only);
    return 0;
  }
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  struct sockaddr_in address = {
      .sin_family = AF_INET,
      .sin_port = htons((uint16_t)atoi(words[1])),
      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096))
    fail("cannot listen on port %s: %s", words[1], strerror(errno));
  poll_set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(poll_set, EPOLL_CTL_ADD, listener, &event);
  serve(listener);
}
