// SPDX-License-Identifier: Apache-2.0

internal import PostgresConnections
internal import Sessions

/// The statements of the journal, each by its first parameter on.
enum JournalStatements {
  // MARK: Transactions

  static let fence = PostgresStatement("fence", "SELECT statewire.fence($1, $2, $3, $4, $5)")

  /// Opens sessions, or opens them again as a whole.
  static let open = PostgresStatement(
    "open",
    """
    INSERT INTO statewire.session (handle, node, owner, deadline, is_empty, bytes, continues)
      SELECT handle, $2::bigint, owner, deadline, is_empty, bytes, continues
        FROM unnest(
          $1::uuid[], $3::bytea[], $4::bigint[], $5::boolean[], $6::bigint[], $7::boolean[])
          WITH ORDINALITY AS new (handle, owner, deadline, is_empty, bytes, continues, place)
        ORDER BY place
      ON CONFLICT (handle) DO UPDATE SET owner = EXCLUDED.owner, deadline = EXCLUDED.deadline,
        is_empty = EXCLUDED.is_empty, bytes = EXCLUDED.bytes, continues = EXCLUDED.continues,
        position = DEFAULT
        WHERE session.node = EXCLUDED.node
    """)
  static let removeEntries = PostgresStatement(
    "remove entries", "DELETE FROM statewire.entry WHERE session = ANY ($1::uuid[])")
  static let insertEntries = PostgresStatement(
    "insert entries",
    """
    INSERT INTO statewire.entry (session, number, data)
      SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::bytea[])
    """)
  static let summarise = PostgresStatement(
    "summarise",
    """
    UPDATE statewire.session SET deadline = new.deadline, is_empty = new.is_empty,
        bytes = new.bytes, continues = new.continues
      FROM unnest($1::uuid[], $2::bigint[], $3::boolean[], $4::bigint[], $5::boolean[])
        AS new (handle, deadline, is_empty, bytes, continues)
      WHERE session.handle = new.handle
    """)
  static let removeSessions = PostgresStatement(
    "remove sessions", "DELETE FROM statewire.session WHERE handle = ANY ($1::uuid[])")
  static let end = PostgresStatement(
    "end",
    """
    INSERT INTO statewire.ended (handle, owner)
      SELECT handle, owner FROM unnest($1::uuid[], $2::bytea[])
        WITH ORDINALITY AS new (handle, owner, place) ORDER BY place
      ON CONFLICT (handle) DO NOTHING
    """)
  static let giveUp = PostgresStatement(
    "give up",
    "UPDATE statewire.session SET node = NULL WHERE handle = $1 AND node = $2 AND epoch = $3")
  static let forgetEnded = PostgresStatement(
    "forget ended",
    "DELETE FROM statewire.ended WHERE id <= (SELECT max(id) FROM statewire.ended) - $1")
  static let removeKept = PostgresStatement(
    "remove kept",
    """
    DELETE FROM statewire.kept
      USING unnest($1::uuid[], $2::bytea[], $3::bigint[]) AS old (session, store, revision)
      WHERE kept.session = old.session AND kept.store = old.store AND kept.revision = old.revision
    """)
  static let keep = PostgresStatement(
    "keep",
    """
    INSERT INTO statewire.kept (session, store, revision, bytes, data)
      SELECT session, store, revision, bytes, data
        FROM unnest($1::uuid[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bytea[])
        WITH ORDINALITY AS new (session, store, revision, bytes, data, place) ORDER BY place
    """)
  /// A session that was journaled since it was loaded has entries; its row is as it was.
  static let release = PostgresStatement(
    "release", "UPDATE statewire.session SET node = NULL WHERE handle = ANY ($1::uuid[])")
  static let replaceEntries = PostgresStatement(
    "replace entries",
    """
    UPDATE statewire.entry SET data = new.data
      FROM unnest($1::uuid[], $2::bigint[], $3::bytea[]) AS new (session, number, data)
      WHERE entry.session = new.session AND entry.number = new.number
    """)
  static let removeEarlier = PostgresStatement(
    "remove earlier",
    """
    DELETE FROM statewire.entry
      USING unnest($1::uuid[], $2::bigint[]) AS new (session, number)
      WHERE entry.session = new.session AND entry.number < new.number
    """)

  // MARK: The writer

  static let addWriter = PostgresStatement(
    "add writer",
    """
    INSERT INTO statewire.writer (node, process, application)
      SELECT id, pg_backend_pid(), current_setting('application_name') FROM statewire.node
        WHERE id = $1
      RETURNING id
    """)
  /// Waits for a transaction of a former connection that is in progress, and excludes later ones.
  static let renewWriter = PostgresStatement(
    "renew writer",
    """
    UPDATE statewire.writer SET generation = generation + 1, process = pg_backend_pid(),
        application = current_setting('application_name')
      WHERE id = $1 RETURNING generation, last
    """)

  // MARK: Reading

  static let claim = PostgresStatement(
    "claim",
    """
    SELECT outcome, epoch, name, address, lease_left, owner FROM statewire.claim($1, $2)
    """)
  static let entries = PostgresStatement(
    "entries",
    """
    SELECT number, data FROM statewire.entry WHERE session = $1
      AND EXISTS (SELECT FROM statewire.session WHERE handle = $1 AND node = $2) ORDER BY number
    """)
  static let sessions = PostgresStatement(
    "sessions",
    """
    SELECT handle, owner, deadline, is_empty, bytes, continues FROM statewire.session
      WHERE node IS NULL OR node = $1
        OR NOT EXISTS (SELECT FROM statewire.node WHERE id = session.node)
      ORDER BY position
    """)
  static let ended = PostgresStatement(
    "ended", "SELECT handle, owner FROM statewire.ended ORDER BY id")
  static let keptBytes = PostgresStatement(
    "kept bytes", "SELECT coalesce(sum(bytes), 0)::bigint FROM statewire.kept")
  static let kept = PostgresStatement(
    "kept", "SELECT session, data FROM statewire.kept ORDER BY id")
  static let countLoad = PostgresStatement("count load", "SELECT nextval('statewire.load')")
}

extension SessionHandle {
  /// The handle as a key of the tables.
  var uuid: PostgresUUID { PostgresUUID(high: bits.high, low: bits.low) }

  init(_ uuid: PostgresUUID) { self.init(high: uuid.high, low: uuid.low) }
}

extension Duration {
  /// The number of nanoseconds, or the largest one.
  var nanoseconds: Int64 { Int64(clamping: attoseconds / 1_000_000_000) }
}
