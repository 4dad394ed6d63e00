// SPDX-License-Identifier: Apache-2.0

internal import SQLiteFiles

/// The tables of the file.
enum DocumentSchema {
  static let schema = Schema([Schema.Migration("documents", documents)])

  private static let documents = """
    -- A table of a store. Its position counts the changes it has ever had.
    CREATE TABLE documentTable (
      id INTEGER PRIMARY KEY,
      name BLOB NOT NULL UNIQUE,
      position INTEGER NOT NULL DEFAULT 0,
      -- Removals up to here are no longer known.
      forgotten INTEGER NOT NULL DEFAULT 0,
      rows INTEGER NOT NULL DEFAULT 0,
      bytes INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    -- The rows, in the order in which they were added.
    CREATE TABLE documentRow (
      number INTEGER PRIMARY KEY,
      tableID INTEGER NOT NULL REFERENCES documentTable (id),
      id BLOB NOT NULL,
      -- The position of the last change.
      changed INTEGER NOT NULL,
      -- The version of the type that has encoded the value, which is JSON text.
      version INTEGER NOT NULL,
      value BLOB NOT NULL
    ) STRICT;
    CREATE INDEX documentRowByTable ON documentRow (tableID);
    CREATE UNIQUE INDEX documentRowByID ON documentRow (tableID, id);
    CREATE INDEX documentRowByChange ON documentRow (tableID, changed);

    -- The last removals of a table, each with its position; older ones are forgotten.
    CREATE TABLE documentRemoval (
      tableID INTEGER NOT NULL REFERENCES documentTable (id),
      position INTEGER NOT NULL,
      id BLOB NOT NULL,
      PRIMARY KEY (tableID, position)
    ) STRICT, WITHOUT ROWID;

    -- The last writes of sessions that outlive the process, so that none is carried out again after
    -- a restart.
    CREATE TABLE documentOperation (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      -- The table's position after it.
      position INTEGER NOT NULL
    ) STRICT;

    -- The size of all tables together. One row.
    CREATE TABLE documentTotal (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      tables INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO documentTotal VALUES (1, 0, 0);
    """
}
