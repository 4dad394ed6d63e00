// SPDX-License-Identifier: Apache-2.0
//
// libpq, loaded when the first connection is opened. Neither the build nor a program without a PostgreSQL
// database needs it, and a program that does not use it does not load its two dozen libraries.
//
// The declarations are those of libpq 14 and later; its ABI has had the number 5 since 2006.
// Source: https://www.postgresql.org/docs/15/libpq.html

#ifndef CPOSTGRES_H
#define CPOSTGRES_H

#include <stdbool.h>

typedef struct pg_conn PostgresHandle;
typedef struct pg_result PostgresResultHandle;

/// An option of a connection string, as PQconninfoParse returns it.
struct postgres_option {
  char *keyword;
  char *environment;
  char *compiled;
  char *value;
  char *label;
  char *display;
  int size;
};

enum {
  POSTGRES_CONNECTION_OK = 0,
  POSTGRES_COMMAND_OK = 1,
  POSTGRES_TUPLES_OK = 2,
  POSTGRES_FATAL_ERROR = 7,
  POSTGRES_PIPELINE_SYNC = 10,
  POSTGRES_PIPELINE_ABORTED = 11,
  POSTGRES_SQLSTATE = 'C',
  POSTGRES_MESSAGE = 'M',
};

/// Loads libpq. Returns NULL, or the reason why it cannot be loaded. Any thread may call it.
const char *postgres_load(void);

struct postgres_option *postgres_parse(const char *text);
void postgres_free_options(struct postgres_option *options);
PostgresHandle *postgres_connect(const char *const *keywords, const char *const *values);
void postgres_finish(PostgresHandle *connection);
bool postgres_is_connected(const PostgresHandle *connection);
int postgres_server_version(const PostgresHandle *connection);
const char *postgres_error(const PostgresHandle *connection);
int postgres_socket(const PostgresHandle *connection);
bool postgres_enter_pipeline(PostgresHandle *connection);
bool postgres_send_prepare(PostgresHandle *connection, const char *name, const char *sql);
/// Sends a statement with binary parameters, for binary results.
bool postgres_send(
  PostgresHandle *connection, const char *name, int count, const char *const *values,
  const int *lengths, const int *formats);
bool postgres_send_sync(PostgresHandle *connection);
/// Returns 0 if all bytes have been sent, 1 if some wait, and -1 if the connection is lost.
int postgres_flush(PostgresHandle *connection);
bool postgres_consume(PostgresHandle *connection);
bool postgres_is_busy(PostgresHandle *connection);
PostgresResultHandle *postgres_next_result(PostgresHandle *connection);
void postgres_clear(PostgresResultHandle *result);
int postgres_status(const PostgresResultHandle *result);
const char *postgres_field(const PostgresResultHandle *result, int field);
int postgres_row_count(const PostgresResultHandle *result);
int postgres_column_count(const PostgresResultHandle *result);
bool postgres_is_null(const PostgresResultHandle *result, int row, int column);
int postgres_length(const PostgresResultHandle *result, int row, int column);
const char *postgres_value(const PostgresResultHandle *result, int row, int column);
/// True if a notification was received, which is removed; `is_own` is true if this connection has sent it.
bool postgres_take_notification(PostgresHandle *connection, bool *is_own);

#endif
