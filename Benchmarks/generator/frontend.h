// SPDX-License-Identifier: Apache-2.0
//
// One connection to a server, and what a careful frontend knows of its store.
//
// Each frame and each answer is looked at. Whatever must not be ends the program: an error, an answer
// out of order, a frame that does not begin where the last one ended, an answer before its frame.
#ifndef FRONTEND_H
#define FRONTEND_H

#include <sys/types.h>

#include "histogram.h"
#include "inputs.h"

/// Requests of one frontend that may be open.
enum { MOST_OPEN = 1 << 10 };

struct frontend {
  /// Where frames come from and requests go to; one socket or two pipes.
  int readable, writable;
  /// The server that was started for this frontend alone; 0 for none.
  pid_t process;
  bool waits_to_write, is_listened_to, is_observer;
  /// What is yet to be written, from `written` on.
  struct bytes outgoing;
  size_t written;
  /// The beginning of a frame whose end has not come, searched so far for its end.
  struct bytes partial;
  size_t searched;

  enum kind kind;
  long items;
  /// Inputs that were sent.
  long inputs;
  /// Requests are numbered from 1; so many were sent and answered.
  long sent, answered;
  /// When each request that may be open was sent, by its number modulo `MOST_OPEN`.
  uint64_t *times;

  /// The revision that is held, -1 before there is one, and what the last frame said.
  long revision, applied;
  long frames, merged;
  /// Of the answer that came last.
  uint32_t digest;
  char session[64];
  /// Where the durations of answers are recorded; NULL for nowhere.
  struct histogram *latencies;
  /// The bytes that were read.
  uint64_t received;
};

/// How a server is reached.
struct target {
  /// An IPv4 address and a port, or the words of a command that serves standard input and output.
  const char *address;
  char **command;
  int server_core;
};

/// Connects; of what was in the frontend its kind, its items and its latencies stay.
void connect_to(struct frontend *frontend, const struct target *target);
/// Closes the connection; ends a server of its own and waits for it.
void leave(struct frontend *frontend);

/// Puts a request into what goes out; `rest` is its method and params.
void put_request(struct frontend *frontend, const struct bytes *rest);
void put_text(struct frontend *frontend, const char *rest);
void put_input(struct frontend *frontend);
/// Writes what can be written; the rest goes when the peer takes it.
void flush(struct frontend *frontend);
/// Reads what has come. Returns false at the end of it all.
bool take(struct frontend *frontend);

/// Writes what waits and reads until all is answered.
void wait_for_answers(struct frontend *frontend);
/// Sends one request and waits for its answer, whatever else comes.
void ask(struct frontend *frontend, const char *rest);
/// Opens what the inputs need; with a session of its own if `has_session`.
void prepare(struct frontend *frontend, bool has_session);
/// Joins a session that there is, with the revision that is held of its store; -1 for none.
void attach(struct frontend *frontend, const char *session, long revision, bool is_observer);
/// Compares what the inputs must have led to with what the server says it has.
void compare(struct frontend *frontend);

static inline long open_requests(const struct frontend *frontend) {
  return frontend->sent - frontend->answered;
}

#endif
