// SPDX-License-Identifier: Apache-2.0

extension PostgresSchema {
  /// The tables of the todo lists, the documents and the ledger.
  ///
  /// Nodes with an older program would keep these data in files of their own, so they must end first.
  ///
  /// Names and ids may be longer than a key of an index permits, so they are found by a hash.
  static let storage = Step(
    oldest: 3,
    sql: [operations, totals, todoLists, todoOperations, documents, ledger].joined(
      separator: "\n--\n"))

  /// The function that keeps the order of writes of one connection in which an earlier one has failed.
  static let orderedWrites = Step(
    oldest: 3,
    sql: """
      -- Refuses a write unless the one before it in its queue was carried out in this session. A setting
      -- has the number of the last one; if the transaction fails, it keeps its value.
      CREATE FUNCTION statewire.write_in_order(setting text, previous text, number text) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        IF previous IS NOT NULL AND current_setting(setting, true) IS DISTINCT FROM previous THEN
          RAISE EXCEPTION 'an earlier write was not carried out' USING ERRCODE = 'SW002';
        END IF;
        PERFORM set_config(setting, number, false);
      END $$
      """)

  private static let operations = """
    -- The last operations that were carried out, so that none is carried out twice. The id is a hash
    -- of the id of the operation, the version that of the list or table afterwards.
    CREATE TABLE statewire.operation (
      id bytea PRIMARY KEY,
      version bigint NOT NULL,
      number bigint GENERATED ALWAYS AS IDENTITY,
      performed timestamptz NOT NULL DEFAULT clock_timestamp()
    )
    --
    CREATE INDEX ON statewire.operation (number)
    --
    -- Forgets the operations that are neither among the last ones nor recent.
    CREATE FUNCTION statewire.forget_operations(kept bigint) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      last bigint;
    BEGIN
      SELECT max(number) INTO last FROM statewire.operation;
      DELETE FROM statewire.operation
        WHERE number <= last - kept AND performed < clock_timestamp() - interval '10 minutes';
    END $$
    """

  private static let totals = """
    -- The size of all lists, and of all tables of documents. The sum of several rows, so that writers
    -- of different lists rarely wait for one another.
    CREATE TABLE statewire.total (
      kind text NOT NULL,
      slot bigint NOT NULL,
      count bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0,
      PRIMARY KEY (kind, slot)
    ) WITH (fillfactor = 20)
    --
    INSERT INTO statewire.total (kind, slot)
      SELECT kind, slot FROM unnest(ARRAY['todo', 'document']) AS kind, generate_series(0, 15) AS slot
    --
    -- Adds to a size, unless it grows beyond a maximum. Returns the size with the addition.
    CREATE FUNCTION statewire.add_to_total(
      this_kind text, this_slot bigint, more_count bigint, more_bytes bigint, most_count bigint,
      most_bytes bigint, OUT is_over boolean, OUT total_count bigint, OUT total_bytes bigint
    ) LANGUAGE plpgsql AS $$
    BEGIN
      SELECT sum(count) + more_count, sum(bytes) + more_bytes INTO total_count, total_bytes
        FROM statewire.total WHERE kind = this_kind;
      IF (more_count > 0 AND total_count > most_count - most_count / 8 - 64)
          OR (more_bytes > 0 AND total_bytes > most_bytes - most_bytes / 8 - 65536) THEN
        -- Near a maximum, writers wait for one another, and each counts what the others have added.
        PERFORM pg_advisory_xact_lock(1937011316, CASE this_kind WHEN 'todo' THEN 1 ELSE 2 END);
        SELECT sum(count) + more_count, sum(bytes) + more_bytes INTO total_count, total_bytes
          FROM statewire.total WHERE kind = this_kind;
      END IF;
      is_over := (more_count > 0 AND total_count > most_count)
        OR (more_bytes > 0 AND total_bytes > most_bytes);
      IF NOT is_over THEN
        UPDATE statewire.total SET count = count + more_count, bytes = bytes + more_bytes
          WHERE kind = this_kind AND slot = this_slot;
      END IF;
    END $$
    """

  private static let ledger = """
    -- Amounts in the order in which they were posted; never changed, never removed. Ids have no gaps.
    CREATE TABLE statewire.ledger_entry (
      id bigint PRIMARY KEY,
      -- Decimal numbers.
      amount text NOT NULL,
      -- Of all amounts up to this one.
      sum text NOT NULL,
      -- Seconds since 1970-01-01T00:00:00Z.
      date bigint NOT NULL
    )
    --
    -- Posts an entry, unless this was done before. Returns false if another entry has the id.
    CREATE FUNCTION statewire.ledger_post(
      this_id bigint, once bytea, this_amount text, this_sum text, this_date bigint
    ) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM statewire.operation WHERE id = sha256(once)) THEN RETURN true; END IF;
      INSERT INTO statewire.ledger_entry VALUES (this_id, this_amount, this_sum, this_date)
        ON CONFLICT DO NOTHING;
      IF NOT FOUND THEN RETURN false; END IF;
      INSERT INTO statewire.operation (id, version) VALUES (sha256(once), this_id);
      RETURN true;
    END $$
    """
}
