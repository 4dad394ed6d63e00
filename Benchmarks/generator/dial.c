// SPDX-License-Identifier: Apache-2.0
//
// Connecting to a server and disconnecting.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "frontend.h"
#include "loop.h"
#include "server.h"

static int dial(const char *address) {
  char host[64];
  const char *colon = strrchr(address, ':');
  if (!colon || (size_t)(colon - address) >= sizeof host) fail("%s is not an address; use ADDRESS:PORT", address);
  memcpy(host, address, (size_t)(colon - address));
  host[colon - address] = 0;
  struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(colon + 1))};
  if (inet_pton(AF_INET, host, &server.sin_addr) != 1) fail("%s is not an IPv4 address", host);
  // A server that was just started may not listen yet.
  for (int tries = 0;; tries++) {
    int end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0) fail("cannot create a socket: %s", strerror(errno));
    if (!connect(end, (struct sockaddr *)&server, sizeof server)) {
      int on = 1;
      // A reset leaves no state in the kernel that would disturb the next run.
      struct linger reset = {1, 0};
      setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      setsockopt(end, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
      return end;
    }
    close(end);
    if (tries == 400) fail("cannot connect to %s: %s", address, strerror(errno));
    nanosleep(&(struct timespec){0, 50000000}, NULL);
  }
}

static void start(struct frontend *frontend, const struct target *target) {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) fail("cannot create a pipe: %s", strerror(errno));
  pid_t process = vfork();
  if (process < 0) fail("cannot create a process: %s", strerror(errno));
  if (process == 0) {
    pin(target->server_core);
    dup2(in[0], 0);
    dup2(out[1], 1);
    execvp(target->command[0], target->command);
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  frontend->process = process;
  frontend->writable = in[1];
  frontend->readable = out[0];
}

void connect_to(struct frontend *frontend, const struct target *target) {
  struct frontend before = *frontend;
  *frontend = (struct frontend){.kind = before.kind, .store_kind = before.store_kind,
                                .items = before.items, .latencies = before.latencies, .revision = -1};
  frontend->times = malloc(MOST_OPEN * sizeof *frontend->times);
  if (!frontend->times) fail("no memory");
  if (target->command)
    start(frontend, target);
  else
    frontend->readable = frontend->writable = dial(target->address);
  fcntl(frontend->readable, F_SETFL, O_NONBLOCK);
  fcntl(frontend->writable, F_SETFL, O_NONBLOCK);
}

void leave(struct frontend *frontend) {
  watch(frontend, false);
  close(frontend->writable);
  if (frontend->process > 0) {
    // The server ends when its input ends.
    for (int tries = 0; waitpid(frontend->process, NULL, WNOHANG) == 0; tries++) {
      if (tries == 2000) kill(frontend->process, SIGKILL);
      nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
    close(frontend->readable);
  }
  drop(&frontend->outgoing);
  drop(&frontend->partial);
  free(frontend->times);
}
