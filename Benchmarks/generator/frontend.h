// SPDX-License-Identifier: Apache-2.0
//
// One connection to a server, and the state of a frontend that checks everything it receives.
//
// The program fails at an error response, a response out of order, an update whose base is not the last
// revision, and a response before its update.
#ifndef FRONTEND_H
#define FRONTEND_H

#include <sys/types.h>

#include "histogram.h"
#include "inputs.h"

/// The maximum number of open requests of one frontend.
enum { MOST_OPEN = 1 << 10 };

struct frontend {
  /// The descriptors for frames from the server and for requests; one socket or two pipes.
  int readable, writable;
  /// The server process that was started for this frontend; 0 if there is none.
  pid_t process;
  bool waits_to_write, is_watched, is_observer;
  /// The bytes to write, from `written` on.
  struct bytes outgoing;
  size_t written;
  /// An incomplete frame; its end is not in the first `searched` bytes.
  struct bytes partial;
  size_t searched;

  enum kind kind;
  const char *store_kind;
  long items;
  /// The number of inputs that were sent.
  long inputs;
  /// The numbers of the last request and of the last response; requests are numbered from 1.
  long sent, responses;
  /// The time when each open request was sent, indexed by its number modulo `MOST_OPEN`.
  uint64_t *times;

  /// The last revision, -1 before the first one, and the `applied` member of the last update.
  long revision, applied;
  long updates, coalesced;
  /// The digest in the last response.
  uint32_t digest;
  char session[64];
  /// Records the response times, if not NULL.
  struct histogram *latencies;
  /// The number of bytes that were read.
  uint64_t received;
};

/// The address of a server, or the command that starts it.
struct target {
  /// An IPv4 address and a port; or NULL, and the words of a command that serves standard input and
  /// output.
  const char *address;
  char **command;
  int server_core;
};

/// Connects; resets the frontend except its kind, items and latencies.
void connect_to(struct frontend *frontend, const struct target *target);
/// Closes the connection; waits for the end of the server process, if it has one.
void leave(struct frontend *frontend);

/// Appends a request to the outgoing bytes; `rest` is its method and params.
void put_request(struct frontend *frontend, const struct bytes *rest);
void put_text(struct frontend *frontend, const char *rest);
void put_input(struct frontend *frontend);
/// Writes as much as possible; the rest is written when the server reads again.
void flush(struct frontend *frontend);
/// Reads and checks the available frames. Returns false at the end of the connection.
bool take(struct frontend *frontend);

/// Writes the outgoing bytes and reads until there is no open request.
void wait_for_responses(struct frontend *frontend);
/// Sends one request and waits for its response; reads updates in the meantime.
void ask(struct frontend *frontend, const char *rest);
/// Opens the store for the inputs; opens a session with a handle first if `has_session`.
void prepare(struct frontend *frontend, bool has_session);
/// Attaches to an existing session with the last revision of its store; -1 if there is none.
void attach(struct frontend *frontend, const char *session, long revision, bool is_observer);
/// Compares the digest of the expected state with the digest in the server's response.
void compare(struct frontend *frontend);

static inline long open_requests(const struct frontend *frontend) {
  return frontend->sent - frontend->responses;
}

#endif
