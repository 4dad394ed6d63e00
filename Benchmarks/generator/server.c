// SPDX-License-Identifier: Apache-2.0
#include "server.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t nanoseconds(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time)) return 0;
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t now(void) { return nanoseconds(CLOCK_MONOTONIC); }

uint64_t processor_time(pid_t process) {
  clockid_t clock;
  if (process <= 0 || clock_getcpuclockid(process, &clock)) return 0;
  return nanoseconds(clock);
}

long resident(pid_t process) {
  char line[128];
  snprintf(line, sizeof line, "/proc/%d/status", (int)process);
  FILE *status = process > 0 ? fopen(line, "r") : NULL;
  long found = 0;
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &found);
  if (status) fclose(status);
  return found;
}

void pin(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= 0) {
    CPU_SET(core, &cores);
  } else {
    for (int each = 0; each < sysconf(_SC_NPROCESSORS_CONF); each++) CPU_SET(each, &cores);
  }
  sched_setaffinity(0, sizeof cores, &cores);
}
