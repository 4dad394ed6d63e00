// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CChildPrograms.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

struct failure {
  int number;
  int function;
};

static const char *const functions[] = {"fork", "chdir", "setrlimit", "exec", "prctl", "dup2"};
enum { in_fork, in_chdir, in_setrlimit, in_exec, in_prctl, in_dup2 };

static void fail(int report, int function) {
  struct failure failure = {errno, function};
  if (write(report, &failure, sizeof failure) < 0) {
    // The parent sees the end of the pipe and the exit code.
  }
  _exit(127);
}

static void limit(int report, int resource, uint64_t value) {
  if (value == 0) return;
  struct rlimit limits;
  if (getrlimit(resource, &limits) != 0) fail(report, in_setrlimit);
  if (limits.rlim_max != RLIM_INFINITY && value > limits.rlim_max) value = limits.rlim_max;
  limits.rlim_cur = limits.rlim_max = value;
  if (setrlimit(resource, &limits) != 0) fail(report, in_setrlimit);
}

static void close_from(int first) {
#if defined(SYS_close_range)
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  long count = sysconf(_SC_OPEN_MAX);
  for (int descriptor = first; descriptor < count; descriptor++) close(descriptor);
}

/// Runs in the child between fork and exec: only functions that are safe after a fork of a process with
/// several threads.
static void run(const char *const *arguments, const char *const *environment, const char *directory,
                int input, int output, int errors, const struct child_limits *limits, int report,
                pid_t parent) {
  // Above the standard streams, so that these do not overwrite them.
  int streams[3] = {fcntl(input, F_DUPFD, 16), fcntl(output, F_DUPFD, 16), fcntl(errors, F_DUPFD, 16)};
  int high = fcntl(report, F_DUPFD_CLOEXEC, 16);
  if (high < 0) _exit(127);
  for (int stream = 0; stream < 3; stream++) {
    if (streams[stream] < 0 || dup2(streams[stream], stream) < 0) fail(high, in_dup2);
  }
  if (dup2(high, 3) < 0 || fcntl(3, F_SETFD, FD_CLOEXEC) < 0) fail(high, in_dup2);
  report = 3;
  close_from(4);

  setpgid(0, 0);
#if defined(__linux__)
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(report, in_prctl);
  // The parent may have ended before.
  if (getppid() != parent) _exit(127);
#endif
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  limit(report, RLIMIT_DATA, limits->memory);
  limit(report, RLIMIT_NOFILE, limits->files);
#if defined(RLIMIT_NPROC)
  limit(report, RLIMIT_NPROC, limits->processes);
#endif
  for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
  sigset_t signals;
  sigemptyset(&signals);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  if (directory != NULL && chdir(directory) != 0) fail(report, in_chdir);
#if defined(__linux__)
  execvpe(arguments[0], (char *const *)arguments, (char *const *)environment);
#else
  execve(arguments[0], (char *const *)arguments, (char *const *)environment);
#endif
  fail(report, in_exec);
}

int child_start(const char *const *arguments, const char *const *environment, const char *directory,
                int input, int output, int errors, const struct child_limits *limits, pid_t *child,
                const char **failed) {
  int ends[2];
  *failed = "pipe";
  if (pipe(ends) != 0) return errno;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  pid_t parent = getpid();
  // No handler of this process may run in the child.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t id = fork();
  int number = errno;
  if (id == 0) run(arguments, environment, directory, input, output, errors, limits, ends[1], parent);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (id < 0) {
    close(ends[0]);
    *failed = functions[in_fork];
    return number;
  }
  struct failure failure;
  ssize_t count;
  do count = read(ends[0], &failure, sizeof failure);
  while (count < 0 && errno == EINTR);
  close(ends[0]);
  if (count != sizeof failure) {
    *child = id;
    return 0;
  }
  while (waitpid(id, NULL, 0) < 0 && errno == EINTR) {
  }
  *failed = functions[failure.function];
  return failure.number;
}

int child_watch(pid_t child) {
#if defined(SYS_pidfd_open)
  return (int)syscall(SYS_pidfd_open, child, 0);
#else
  (void)child;
  return -1;
#endif
}
