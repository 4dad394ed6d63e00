// SPDX-License-Identifier: Apache-2.0

extension PostgresSchema {
  static let documents = """
    -- A table of a store. Its position counts the changes it has ever had. A change holds the lock of
    -- the row until its commit, so that positions become visible in order.
    CREATE TABLE statewire.document_table (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name bytea NOT NULL,
      position bigint NOT NULL DEFAULT 0,
      -- Removals up to here are no longer known.
      forgotten bigint NOT NULL DEFAULT 0,
      rows bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50)
    --
    CREATE UNIQUE INDEX ON statewire.document_table (sha256(name))
    --
    CREATE TABLE statewire.document_row (
      table_id bigint NOT NULL,
      -- The position at which the row was added.
      added bigint NOT NULL,
      -- The position of the last change.
      changed bigint NOT NULL,
      id bytea NOT NULL,
      -- The version of the type that has encoded the value, which is JSON text.
      version bigint NOT NULL,
      value bytea NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0.05)
    --
    CREATE UNIQUE INDEX ON statewire.document_row (table_id, sha256(id))
    --
    CREATE INDEX ON statewire.document_row (table_id, added)
    --
    CREATE INDEX ON statewire.document_row (table_id, changed)
    --
    -- The last removals of a table, each with its position; older ones are forgotten.
    CREATE TABLE statewire.document_removal (
      table_id bigint NOT NULL,
      position bigint NOT NULL,
      id bytea NOT NULL,
      PRIMARY KEY (table_id, position)
    )
    --
    -- Reads what has changed since a position, or all rows: a row with the position, and 1 as its
    -- version if all rows follow; then removals, which have no value, and rows.
    CREATE FUNCTION statewire.document_read(table_name bytea, since bigint)
    RETURNS TABLE (number bigint, id bytea, version bigint, value bytea)
    LANGUAGE plpgsql STABLE AS $$
    #variable_conflict use_column
    DECLARE
      found_table statewire.document_table;
      is_complete boolean;
    BEGIN
      SELECT * INTO found_table FROM statewire.document_table WHERE sha256(name) = sha256(table_name);
      IF NOT FOUND THEN RETURN; END IF;
      is_complete := since IS NULL OR since < found_table.forgotten OR since > found_table.position;
      RETURN QUERY SELECT found_table.position, NULL::bytea, is_complete::int::bigint, NULL::bytea;
      IF is_complete THEN
        RETURN QUERY SELECT r.added, r.id, r.version, r.value FROM statewire.document_row r
          WHERE r.table_id = found_table.id ORDER BY r.added;
      ELSIF since < found_table.position THEN
        RETURN QUERY SELECT r.position, r.id, NULL::bigint, NULL::bytea
          FROM statewire.document_removal r
          WHERE r.table_id = found_table.id AND r.position > since ORDER BY r.position;
        RETURN QUERY SELECT r.added, r.id, r.version, r.value FROM statewire.document_row r
          WHERE r.table_id = found_table.id AND r.changed > since ORDER BY r.added;
      END IF;
    END $$
    --
    -- Reads what an update needs: the position and the sizes of the table and of all tables; then
    -- each of the operations that was carried out, by its place, and each of the rows that exist, of
    -- these and of those whose ids are the numbers of the next changes.
    CREATE FUNCTION statewire.document_state(
      table_name bytea, ids bytea[], operations bytea[], following bigint
    ) RETURNS TABLE (
      word text, place bigint, number bigint, count bigint, bytes bigint, total_count bigint,
      total_bytes bigint, id bytea, value bytea
    ) LANGUAGE plpgsql STABLE AS $$
    #variable_conflict use_column
    DECLARE
      found_table statewire.document_table;
    BEGIN
      SELECT * INTO found_table FROM statewire.document_table WHERE sha256(name) = sha256(table_name);
      RETURN QUERY SELECT 'table', NULL::bigint, coalesce(found_table.position, 0),
          coalesce(found_table.rows, 0), coalesce(found_table.bytes, 0), sum(t.count)::bigint,
          sum(t.bytes)::bigint, NULL::bytea, NULL::bytea
        FROM statewire.total t WHERE t.kind = 'document';
      RETURN QUERY SELECT 'operation', o.place, p.version, NULL::bigint, NULL::bigint, NULL::bigint,
          NULL::bigint, NULL::bytea, NULL::bytea
        FROM unnest(operations) WITH ORDINALITY AS o(id, place)
        JOIN statewire.operation p ON p.id = sha256(o.id);
      IF found_table.id IS NULL THEN RETURN; END IF;
      RETURN QUERY SELECT 'row', NULL::bigint, r.version, NULL::bigint, NULL::bigint, NULL::bigint,
          NULL::bigint, r.id, r.value
        FROM (
          SELECT DISTINCT i.id FROM unnest(ids || ARRAY(
            SELECT convert_to((found_table.position + n)::text, 'UTF8')
              FROM generate_series(1, following) AS n)) AS i(id)
        ) AS i
        JOIN statewire.document_row r
          ON r.table_id = found_table.id AND sha256(r.id) = sha256(i.id);
    END $$
    --
    -- Writes changes to a table that has not changed since a position. A change without a value is a
    -- removal.
    --
    -- Returns `written`; `moved` if the table has changed; or `over` if all tables would be too large.
    CREATE FUNCTION statewire.document_write(
      table_name bytea, expected bigint, ids bytea[], versions bigint[], new_values bytea[],
      operations bytea[], positions bigint[], more_rows bigint, more_bytes bigint, more_tables bigint,
      most_tables bigint, most_bytes bigint, kept_removals bigint
    ) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE
      found_table statewire.document_table;
      is_over boolean := false;
      next bigint := expected;
      last_forgotten bigint;
      part bigint := greatest(1, kept_removals / 4);
    BEGIN
      IF cardinality(ids) > 0 THEN
        SELECT * INTO found_table FROM statewire.document_table
          WHERE sha256(name) = sha256(table_name) FOR UPDATE;
        IF NOT FOUND THEN
          IF expected <> 0 THEN RETURN 'moved'; END IF;
          INSERT INTO statewire.document_table (name) VALUES (table_name) ON CONFLICT DO NOTHING
            RETURNING * INTO found_table;
          IF NOT FOUND THEN RETURN 'moved'; END IF;
        END IF;
        IF found_table.position <> expected THEN RETURN 'moved'; END IF;
        IF more_tables <> 0 OR more_bytes <> 0 THEN
          SELECT added.is_over INTO is_over FROM statewire.add_to_total(
            'document', found_table.id % 16, more_tables, more_bytes, most_tables, most_bytes) AS added;
        END IF;
        IF is_over THEN
          IF expected = 0 THEN DELETE FROM statewire.document_table WHERE id = found_table.id; END IF;
          RETURN 'over';
        END IF;
        FOR change IN 1..cardinality(ids) LOOP
          next := next + 1;
          IF new_values[change] IS NULL THEN
            DELETE FROM statewire.document_row
              WHERE table_id = found_table.id AND sha256(id) = sha256(ids[change]);
            INSERT INTO statewire.document_removal VALUES (found_table.id, next, ids[change]);
          ELSE
            UPDATE statewire.document_row
              SET changed = next, version = versions[change], value = new_values[change]
              WHERE table_id = found_table.id AND sha256(id) = sha256(ids[change]);
            IF NOT FOUND THEN
              INSERT INTO statewire.document_row VALUES
                (found_table.id, next, next, ids[change], versions[change], new_values[change]);
            END IF;
          END IF;
        END LOOP;
        last_forgotten := found_table.forgotten;
        IF expected / part <> next / part THEN
          SELECT position INTO last_forgotten FROM statewire.document_removal
            WHERE table_id = found_table.id ORDER BY position DESC LIMIT 1 OFFSET kept_removals;
          DELETE FROM statewire.document_removal
            WHERE table_id = found_table.id AND position <= last_forgotten;
        END IF;
        UPDATE statewire.document_table SET position = next, rows = rows + more_rows,
            bytes = bytes + more_bytes, forgotten = coalesce(last_forgotten, forgotten)
          WHERE id = found_table.id;
      END IF;
      INSERT INTO statewire.operation (id, version)
        SELECT sha256(id), position FROM unnest(operations, positions) AS performed(id, position)
        ON CONFLICT DO NOTHING;
      RETURN 'written';
    END $$
    """
}
