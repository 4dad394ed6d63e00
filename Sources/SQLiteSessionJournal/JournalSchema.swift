// SPDX-License-Identifier: Apache-2.0

/// The tables of the session journal, as a list of migrations.
///
/// The content of a row is one blob, `data`, which ends with a checksum of the content and of the
/// row's keys (see `RowWriter`). A step that has shipped is never edited; a change is a new step at
/// the end.
enum JournalSchema {
  /// The SQL that migrates a file from each version to the next; version 0 is an empty file.
  static let steps = [
    """
    -- Its handle, its owner, when it expires.
    CREATE TABLE session (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;

    -- The last sequence of a frontend, unless a row of `step` has a later one.
    CREATE TABLE sequence (
      session INTEGER NOT NULL,
      frontend BLOB NOT NULL,
      data BLOB NOT NULL,
      PRIMARY KEY (session, frontend)
    ) STRICT, WITHOUT ROWID;

    -- What a store was opened with.
    CREATE TABLE store (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
    -- How far it is; by the id of its store. Rows of `step` may lead further.
    CREATE TABLE mark (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
    -- Its state; by the id of its store.
    CREATE TABLE state (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;

    -- What a turn has done to a store: patches, frames, sequences. The id is the store's, times
    -- 2^39, plus the number of the last of its steps: so a turn adds one row to one page.
    CREATE TABLE step (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;

    -- Inputs whose effects have not ended.
    CREATE TABLE accepted (
      store INTEGER NOT NULL,
      operation INTEGER NOT NULL,
      data BLOB NOT NULL,
      PRIMARY KEY (store, operation)
    ) STRICT, WITHOUT ROWID;

    -- How often the journal was loaded: the highest id.
    CREATE TABLE load (id INTEGER PRIMARY KEY) STRICT;

    -- The handles and owners of the last sessions that are over.
    CREATE TABLE ended (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
    """,
    """
    -- The states that are kept aside because they cannot be read, without their text.
    CREATE TABLE kept (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
    -- Their texts, by the same ids.
    CREATE TABLE keptstate (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;
    """,
    """
    -- Columns to find sessions without reading all of them; `data` has the same values, with a
    -- checksum. `JournalMigration` fills them: the handle, nanoseconds since 1970, 1 if it has to be
    -- restored without a client in addition to unsettled inputs, 1 if it owns shared stores.
    ALTER TABLE session ADD COLUMN handle BLOB;
    ALTER TABLE session ADD COLUMN deadline INTEGER;
    ALTER TABLE session ADD COLUMN continues INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE session ADD COLUMN shares INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE ended ADD COLUMN handle BLOB;
    """,
    """
    CREATE INDEX session_handle ON session (handle);
    CREATE INDEX session_deadline ON session (deadline) WHERE deadline IS NOT NULL;
    CREATE INDEX session_continues ON session (id) WHERE continues = 1;
    CREATE INDEX session_shares ON session (id) WHERE shares = 1;
    CREATE INDEX ended_handle ON ended (handle);
    """,
  ]
  /// The version whose columns `JournalMigration` fills.
  static let versionWithColumns = 3
}

/// The SQL statements of the journal; each is prepared once and finds its rows by their key.
enum JournalStatement: Int, CaseIterable {
  case begin, commit, rollback
  case putSession, removeSession, sessions
  case putSequence, removeSequences, sequences
  case putStore, removeStore, stores
  case putMark, removeMark, mark
  case putState, removeState, state
  case putStep, removeStep, removeSteps, steps
  case putAccepted, removeAccepted, removeAllAccepted, accepted, oneAccepted
  case putEnded, removeEnded, ended
  // New statements come last: the numbers of the earlier ones are part of checksums (`RowKey`).
  case store, acceptedStores
  case putKept, removeKept, kept
  case putKeptState, removeKeptState, keptState
  case sessionOf, oneSession, nextSessions, continuing, expired, owners, endedOf

  var sql: String {
    switch self {
    case .begin: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .putSession:
      """
      INSERT INTO session (id, data, handle, deadline, continues, shares) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (id) DO UPDATE SET data = excluded.data, handle = excluded.handle,
          deadline = excluded.deadline, continues = excluded.continues, shares = excluded.shares
      """
    case .removeSession: "DELETE FROM session WHERE id = ?"
    case .sessions: "SELECT id, data FROM session ORDER BY id"
    case .putSequence: "INSERT OR REPLACE INTO sequence (session, frontend, data) VALUES (?, ?, ?)"
    case .removeSequences: "DELETE FROM sequence WHERE session = ?"
    case .sequences: "SELECT frontend, data FROM sequence WHERE session = ?"
    case .putStore: "INSERT OR REPLACE INTO store (id, data) VALUES (?, ?)"
    case .removeStore: "DELETE FROM store WHERE id = ?"
    case .stores: "SELECT id, data FROM store ORDER BY id"
    case .putMark: "INSERT OR REPLACE INTO mark (id, data) VALUES (?, ?)"
    case .removeMark: "DELETE FROM mark WHERE id = ?"
    case .mark: "SELECT id, data FROM mark WHERE id = ?"
    case .putState: "INSERT OR REPLACE INTO state (id, data) VALUES (?, ?)"
    case .removeState: "DELETE FROM state WHERE id = ?"
    case .state: "SELECT id, data FROM state WHERE id = ?"
    case .putStep: "INSERT OR REPLACE INTO step (id, data) VALUES (?, ?)"
    case .removeStep: "DELETE FROM step WHERE id = ?"
    case .removeSteps: "DELETE FROM step WHERE id BETWEEN ? AND ?"
    case .steps: "SELECT id, data FROM step WHERE id BETWEEN ? AND ? ORDER BY id"
    case .putAccepted: "INSERT OR REPLACE INTO accepted (store, operation, data) VALUES (?, ?, ?)"
    case .removeAccepted: "DELETE FROM accepted WHERE store = ? AND operation = ?"
    case .removeAllAccepted: "DELETE FROM accepted WHERE store = ?"
    case .accepted: "SELECT operation, data FROM accepted WHERE store = ?"
    case .oneAccepted: "SELECT operation, data FROM accepted WHERE store = ? AND operation = ?"
    case .putEnded: "INSERT OR REPLACE INTO ended (id, data, handle) VALUES (?, ?, ?)"
    case .removeEnded: "DELETE FROM ended WHERE id <= ?"
    case .ended: "SELECT id, data FROM ended ORDER BY id"
    case .store: "SELECT id, data FROM store WHERE id = ?"
    case .acceptedStores: "SELECT DISTINCT store, x'' FROM accepted"
    case .putKept: "INSERT OR REPLACE INTO kept (id, data) VALUES (?, ?)"
    case .removeKept: "DELETE FROM kept WHERE id = ?"
    case .kept: "SELECT id, data FROM kept ORDER BY id"
    case .putKeptState: "INSERT OR REPLACE INTO keptstate (id, data) VALUES (?, ?)"
    case .removeKeptState: "DELETE FROM keptstate WHERE id = ?"
    case .keptState: "SELECT id, data FROM keptstate WHERE id = ?"
    case .sessionOf: "SELECT id, data FROM session WHERE handle = ?"
    case .oneSession: "SELECT id, data FROM session WHERE id = ?"
    case .nextSessions: "SELECT id, data FROM session WHERE id > ? ORDER BY id LIMIT ?"
    case .continuing:
      "SELECT id, data FROM session WHERE continues = 1 AND id > ? ORDER BY id LIMIT ?"
    case .expired: "SELECT id, data FROM session WHERE deadline <= ? ORDER BY deadline"
    case .owners: "SELECT id, data FROM session WHERE shares = 1 ORDER BY id"
    case .endedOf: "SELECT id, data FROM ended WHERE handle = ? ORDER BY id DESC LIMIT 1"
    }
  }
}
