// SPDX-License-Identifier: Apache-2.0
#include "loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

static int poll_set(void) {
  static int set = -1;
  if (set < 0) set = epoll_create1(EPOLL_CLOEXEC);
  return set;
}

static void control(int operation, int descriptor, uint32_t events, struct frontend *frontend) {
  struct epoll_event event = {.events = events, .data.ptr = frontend};
  if (epoll_ctl(poll_set(), operation, descriptor, &event)) fail("epoll: %s", strerror(errno));
}

void watch(struct frontend *frontend, bool on) {
  if (frontend->is_watched == on) return;
  if (!on) wait_to_write(frontend, false);
  control(on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, frontend->readable, EPOLLIN, frontend);
  frontend->is_watched = on;
}

void wait_to_write(struct frontend *frontend, bool on) {
  if (frontend->waits_to_write == on) return;
  frontend->waits_to_write = on;
  if (!frontend->is_watched) return;
  if (frontend->readable == frontend->writable)
    control(EPOLL_CTL_MOD, frontend->readable, on ? EPOLLIN | EPOLLOUT : EPOLLIN, frontend);
  else
    control(on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, frontend->writable, EPOLLOUT, frontend);
}

bool turn(int milliseconds, void (*after)(struct frontend *)) {
  struct epoll_event events[256];
  int count = epoll_wait(poll_set(), events, 256, milliseconds);
  bool all_live = true;
  for (int at = 0; at < count; at++) {
    struct frontend *frontend = events[at].data.ptr;
    if (events[at].events & EPOLLOUT) flush(frontend);
    if (events[at].events & (EPOLLIN | EPOLLHUP | EPOLLERR) && !take(frontend)) {
      watch(frontend, false);
      all_live = false;
    } else {
      after(frontend);
    }
  }
  return all_live;
}
