// SPDX-License-Identifier: Apache-2.0

#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

// Returns, pointer, name in libpq, parameters.
/// The beginning of libpq's PGnotify.
struct notification {
  char *channel;
  int process;
};

#define FUNCTIONS(F) \
  F(struct postgres_option *, parse, PQconninfoParse, (const char *, char **)) \
  F(void, free_options, PQconninfoFree, (struct postgres_option *)) \
  F(void, free_memory, PQfreemem, (void *)) \
  F(PostgresHandle *, connect, PQconnectdbParams, (const char *const *, const char *const *, int)) \
  F(void, finish, PQfinish, (PostgresHandle *)) \
  F(int, connection_status, PQstatus, (const PostgresHandle *)) \
  F(int, server_version, PQserverVersion, (const PostgresHandle *)) \
  F(char *, error, PQerrorMessage, (const PostgresHandle *)) \
  F(int, socket, PQsocket, (const PostgresHandle *)) \
  F(int, set_nonblocking, PQsetnonblocking, (PostgresHandle *, int)) \
  F(void *, set_notices, PQsetNoticeProcessor, \
    (PostgresHandle *, void (*)(void *, const char *), void *)) \
  F(int, enter_pipeline, PQenterPipelineMode, (PostgresHandle *)) \
  F(int, send_prepare, PQsendPrepare, \
    (PostgresHandle *, const char *, const char *, int, const unsigned *)) \
  F(int, send, PQsendQueryPrepared, \
    (PostgresHandle *, const char *, int, const char *const *, const int *, const int *, int)) \
  F(int, send_sync, PQpipelineSync, (PostgresHandle *)) \
  F(int, flush, PQflush, (PostgresHandle *)) \
  F(int, consume, PQconsumeInput, (PostgresHandle *)) \
  F(int, is_busy, PQisBusy, (PostgresHandle *)) \
  F(PostgresResultHandle *, next_result, PQgetResult, (PostgresHandle *)) \
  F(void, clear, PQclear, (PostgresResultHandle *)) \
  F(int, status, PQresultStatus, (const PostgresResultHandle *)) \
  F(char *, field, PQresultErrorField, (const PostgresResultHandle *, int)) \
  F(int, row_count, PQntuples, (const PostgresResultHandle *)) \
  F(int, column_count, PQnfields, (const PostgresResultHandle *)) \
  F(int, is_null, PQgetisnull, (const PostgresResultHandle *, int, int)) \
  F(int, length, PQgetlength, (const PostgresResultHandle *, int, int)) \
  F(char *, value, PQgetvalue, (const PostgresResultHandle *, int, int)) \
  F(struct notification *, notification, PQnotifies, (PostgresHandle *)) \
  F(int, backend_pid, PQbackendPID, (const PostgresHandle *))

#define DECLARE(result, pointer, name, parameters) static result(*pq_##pointer) parameters;
FUNCTIONS(DECLARE)

static const char *problem;

static void load(void) {
#ifdef __APPLE__
  void *library = dlopen("libpq.5.dylib", RTLD_NOW | RTLD_LOCAL);
#else
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
#endif
  if (!library) {
    problem = "libpq cannot be loaded; install PostgreSQL's client library (Debian: apt-get install libpq5)";
    return;
  }
#define FIND(result, pointer, name, parameters) \
  if (!(pq_##pointer = (result(*) parameters)dlsym(library, #name))) \
    problem = "libpq is older than version 14, and lacks " #name "; install a newer one";
  FUNCTIONS(FIND)
}

const char *postgres_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return problem;
}

struct postgres_option *postgres_parse(const char *text) {
  // The message would quote the text, which has the password.
  char *message = NULL;
  struct postgres_option *options = pq_parse(text, &message);
  if (message) pq_free_memory(message);
  return options;
}

void postgres_free_options(struct postgres_option *options) { pq_free_options(options); }

static void ignore(void *context, const char *message) {}

PostgresHandle *postgres_connect(const char *const *keywords, const char *const *values) {
  PostgresHandle *connection = pq_connect(keywords, values, 0);
  if (connection) pq_set_notices(connection, ignore, NULL);
  return connection;
}

void postgres_finish(PostgresHandle *connection) { pq_finish(connection); }
bool postgres_is_connected(const PostgresHandle *connection) {
  return pq_connection_status(connection) == POSTGRES_CONNECTION_OK;
}
int postgres_server_version(const PostgresHandle *connection) {
  return pq_server_version(connection);
}
const char *postgres_error(const PostgresHandle *connection) { return pq_error(connection); }
int postgres_socket(const PostgresHandle *connection) { return pq_socket(connection); }
bool postgres_enter_pipeline(PostgresHandle *connection) {
  return pq_set_nonblocking(connection, 1) == 0 && pq_enter_pipeline(connection) == 1;
}
bool postgres_send_prepare(PostgresHandle *connection, const char *name, const char *sql) {
  return pq_send_prepare(connection, name, sql, 0, NULL) == 1;
}
bool postgres_send(
  PostgresHandle *connection, const char *name, int count, const char *const *values,
  const int *lengths, const int *formats) {
  return pq_send(connection, name, count, values, lengths, formats, 1) == 1;
}
bool postgres_send_sync(PostgresHandle *connection) { return pq_send_sync(connection) == 1; }
int postgres_flush(PostgresHandle *connection) { return pq_flush(connection); }
bool postgres_consume(PostgresHandle *connection) { return pq_consume(connection) == 1; }
bool postgres_is_busy(PostgresHandle *connection) { return pq_is_busy(connection) == 1; }
PostgresResultHandle *postgres_next_result(PostgresHandle *connection) {
  return pq_next_result(connection);
}
void postgres_clear(PostgresResultHandle *result) { pq_clear(result); }
int postgres_status(const PostgresResultHandle *result) { return pq_status(result); }
const char *postgres_field(const PostgresResultHandle *result, int field) {
  return pq_field(result, field);
}
int postgres_row_count(const PostgresResultHandle *result) { return pq_row_count(result); }
int postgres_column_count(const PostgresResultHandle *result) { return pq_column_count(result); }
bool postgres_is_null(const PostgresResultHandle *result, int row, int column) {
  return pq_is_null(result, row, column) == 1;
}
int postgres_length(const PostgresResultHandle *result, int row, int column) {
  return pq_length(result, row, column);
}
const char *postgres_value(const PostgresResultHandle *result, int row, int column) {
  return pq_value(result, row, column);
}
bool postgres_take_notification(PostgresHandle *connection, bool *is_own) {
  struct notification *notification = pq_notification(connection);
  if (!notification) return false;
  *is_own = notification->process == pq_backend_pid(connection);
  pq_free_memory(notification);
  return true;
}
