// SPDX-License-Identifier: Apache-2.0

#define _GNU_SOURCE
#include "CCrashes.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

// The signals of faults and traps. A killed process has not crashed.
static const int crash_signals[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
enum { crash_signal_count = sizeof crash_signals / sizeof *crash_signals };

static struct sigaction previous[crash_signal_count];
static atomic_int crash_file = -1;

struct marked_thread {
  char line[crash_mark_length + 1];
  volatile sig_atomic_t is_marked;
  int has_our_stack;
};

// Initial-exec, because other models may allocate memory at the first access in a thread, which may
// be in the handler.
static _Thread_local __attribute__((tls_model("initial-exec"))) struct marked_thread thread;

static void crashed(int number, siginfo_t *info, void *context) {
  (void)context;
  int error = errno;
  // Signals that processes send have codes of 0 or less; `abort` sends one to its own process.
  int is_ours = info->si_code > 0 || (number == SIGABRT && info->si_pid == getpid());
  static atomic_flag has_written = ATOMIC_FLAG_INIT;
  // One line for a process, even if several of its threads crash.
  if (is_ours && thread.is_marked && !atomic_flag_test_and_set(&has_written)) {
    ssize_t written = write(atomic_load(&crash_file), thread.line, sizeof thread.line);
    (void)written;
  }
  for (int i = 0; i < crash_signal_count; i++)
    if (crash_signals[i] == number) sigaction(number, &previous[i], NULL);
  // A fault occurs again when the handler returns; the earlier handler then receives it with its
  // address. Other signals are raised again, and so is a trap, which some processors do not repeat.
  if (info->si_code <= 0 || number == SIGTRAP) raise(number);
  errno = error;
}

void crash_watch(int file) {
  static atomic_flag is_watching = ATOMIC_FLAG_INIT;
  atomic_store(&crash_file, file);
  if (file < 0 || atomic_flag_test_and_set(&is_watching)) return;
  struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < crash_signal_count; i++) {
    // Stored before the handler, which reads it, is installed.
    sigaction(crash_signals[i], NULL, &previous[i]);
    sigaction(crash_signals[i], &action, NULL);
  }
}

void crash_mark(const char *mark, void *stack, size_t stack_bytes) {
  stack_t present;
  thread.has_our_stack = sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE);
  if (thread.has_our_stack) sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = stack_bytes}, NULL);
  memcpy(thread.line, mark, crash_mark_length);
  thread.line[crash_mark_length] = '\n';
  // A handler on this thread sees the complete line.
  atomic_signal_fence(memory_order_seq_cst);
  thread.is_marked = 1;
}

void crash_unmark(void) {
  thread.is_marked = 0;
  if (thread.has_our_stack) sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}
