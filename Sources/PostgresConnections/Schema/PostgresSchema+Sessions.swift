// SPDX-License-Identifier: Apache-2.0

extension PostgresSchema {
  /// The tables of the nodes and of the session journal.
  static let sessions: [Step] = [
    Step(
      oldest: 1,
      sql: """
        -- The nodes with a lease. An id is never used twice: one that is missing here is dead.
        CREATE TABLE statewire.node (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          name text NOT NULL UNIQUE,
          address text NOT NULL,
          -- The version of the tables that the program of the node knows.
          version bigint NOT NULL,
          lease_end timestamptz NOT NULL
        ) WITH (fillfactor = 20)
        --
        -- One for each connection that commits. `last` is the number of its last transaction: each
        -- transaction raises it by one, so none is committed twice or out of order. A new connection
        -- has a new generation, so that a transaction of the former one cannot follow.
        CREATE TABLE statewire.writer (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          node bigint NOT NULL REFERENCES statewire.node ON DELETE CASCADE,
          generation bigint NOT NULL DEFAULT 0,
          last bigint NOT NULL DEFAULT 0,
          process integer,
          application text
        ) WITH (fillfactor = 10)
        --
        CREATE INDEX ON statewire.writer (node)
        --
        -- The sessions that have not ended. A session whose node is null or dead has no owner.
        CREATE TABLE statewire.session (
          handle uuid PRIMARY KEY,
          node bigint,
          epoch bigint NOT NULL DEFAULT 1,
          owner bytea,
          -- Nanoseconds since 1970; null while a client is attached.
          deadline bigint,
          is_empty boolean NOT NULL DEFAULT true,
          bytes bigint NOT NULL DEFAULT 0,
          continues boolean NOT NULL DEFAULT true,
          position bigint GENERATED ALWAYS AS IDENTITY
        ) WITH (fillfactor = 80)
        --
        CREATE INDEX ON statewire.session (position) WHERE continues
        --
        CREATE INDEX ON statewire.session (deadline) WHERE deadline IS NOT NULL
        --
        -- The journal entries of one session in one transaction. Numbers have no gaps.
        CREATE TABLE statewire.entry (
          session uuid NOT NULL,
          number bigint NOT NULL,
          data bytea NOT NULL,
          PRIMARY KEY (session, number)
        ) WITH (autovacuum_vacuum_scale_factor = 0.05)
        --
        -- Compression would cost more time of the processor than it saves.
        ALTER TABLE statewire.entry ALTER COLUMN data SET STORAGE EXTERNAL
        --
        -- The last sessions that have ended.
        CREATE TABLE statewire.ended (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          handle uuid NOT NULL UNIQUE,
          owner bytea
        )
        --
        -- The states that are kept aside.
        CREATE TABLE statewire.kept (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          session uuid NOT NULL,
          store bytea NOT NULL,
          revision bigint NOT NULL,
          bytes bigint NOT NULL,
          data bytea NOT NULL,
          UNIQUE (session, store, revision)
        )
        --
        CREATE SEQUENCE statewire.load
        --
        -- Fails unless the writer is that of a node with a lease, the transaction is the next one of
        -- the writer, and the node owns the sessions in these epochs.
        --
        -- The lock of the row of the writer lasts until the commit: a node is removed after it.
        CREATE FUNCTION statewire.fence(
          this_writer bigint, this_generation bigint, number bigint, sessions uuid[], epochs bigint[]
        ) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
          this_node bigint;
          owned bigint;
        BEGIN
          UPDATE statewire.writer SET last = number
            WHERE id = this_writer AND generation = this_generation AND last = number - 1
            RETURNING node INTO this_node;
          IF this_node IS NULL THEN
            IF EXISTS (SELECT FROM statewire.writer WHERE id = this_writer) THEN
              RAISE EXCEPTION 'an earlier transaction of the node is missing' USING ERRCODE = 'SW002';
            END IF;
            RAISE EXCEPTION 'the lease of the node is over' USING ERRCODE = 'SW001';
          END IF;
          SELECT count(*) INTO owned FROM unnest(sessions, epochs) AS mine(handle, epoch)
            JOIN statewire.session USING (handle, epoch) WHERE session.node = this_node;
          IF owned <> cardinality(sessions) THEN
            RAISE EXCEPTION 'another node owns a session' USING ERRCODE = 'SW003';
          END IF;
        END $$
        --
        -- Removes a node whose lease is over, after its transactions in progress have ended.
        CREATE FUNCTION statewire.bury(dead bigint) RETURNS boolean LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM FROM statewire.node WHERE id = dead AND lease_end < clock_timestamp() FOR UPDATE;
          IF NOT FOUND THEN RETURN false; END IF;
          -- A node that has stopped in the middle of a transaction would keep its locks.
          PERFORM pg_terminate_backend(process) FROM statewire.writer
            JOIN pg_stat_activity ON pid = process AND application_name = application
            WHERE node = dead AND pid <> pg_backend_pid() AND datname = current_database();
          DELETE FROM statewire.node WHERE id = dead;
          RETURN true;
        END $$
        --
        -- Claims a session that no living node owns. Returns the epoch if this node owns it; otherwise
        -- the owner, or the identity of an ended session.
        CREATE FUNCTION statewire.claim(
          this_handle uuid, this_node bigint,
          OUT outcome text, OUT epoch bigint, OUT name text, OUT address text,
          OUT lease_left bigint, OUT owner bytea
        ) LANGUAGE plpgsql AS $$
        #variable_conflict use_column
        DECLARE
          found_session statewire.session;
        BEGIN
          PERFORM FROM statewire.node WHERE id = this_node FOR KEY SHARE;
          IF NOT FOUND THEN
            RAISE EXCEPTION 'the lease of the node is over' USING ERRCODE = 'SW001';
          END IF;
          LOOP
            SELECT * INTO found_session FROM statewire.session WHERE handle = this_handle;
            IF NOT FOUND THEN
              outcome := 'unknown';
              SELECT 'ended', ended.owner INTO outcome, owner FROM statewire.ended
                WHERE handle = this_handle;
              outcome := coalesce(outcome, 'unknown');
              RETURN;
            END IF;
            IF found_session.node = this_node THEN
              outcome := 'owned';
              epoch := found_session.epoch;
              RETURN;
            END IF;
            SELECT 'elsewhere', node.name, node.address,
                extract(epoch FROM lease_end - clock_timestamp())::numeric * 1000
              INTO outcome, name, address, lease_left
              FROM statewire.node WHERE id = found_session.node;
            IF FOUND THEN RETURN; END IF;
            UPDATE statewire.session SET node = this_node, epoch = found_session.epoch + 1
              WHERE handle = this_handle AND session.epoch = found_session.epoch
                AND node IS NOT DISTINCT FROM found_session.node
              RETURNING 'owned', session.epoch INTO outcome, epoch;
            IF FOUND THEN RETURN; END IF;
          END LOOP;
        END $$
        --
        -- Ends sessions without an owner whose time is over. Returns their number.
        CREATE FUNCTION statewire.expire(this_node bigint, at bigint, maximum bigint)
        RETURNS bigint LANGUAGE plpgsql AS $$
        DECLARE
          candidate uuid;
          number bigint := 0;
        BEGIN
          FOR candidate IN SELECT handle FROM statewire.session WHERE deadline <= at
              AND (node IS NULL OR NOT EXISTS (SELECT FROM statewire.node WHERE id = session.node))
              ORDER BY deadline LIMIT maximum LOOP
            CONTINUE WHEN (SELECT outcome FROM statewire.claim(candidate, this_node)) <> 'owned';
            WITH over AS (
              DELETE FROM statewire.session WHERE handle = candidate AND deadline <= at
                RETURNING handle, owner
            ) INSERT INTO statewire.ended (handle, owner) SELECT handle, owner FROM over;
            IF FOUND THEN
              DELETE FROM statewire.entry WHERE session = candidate;
              number := number + 1;
            ELSE
              UPDATE statewire.session SET node = NULL WHERE handle = candidate;
            END IF;
          END LOOP;
          RETURN number;
        END $$
        """),
    Step(
      oldest: 1,
      sql: """
        -- True if an operator asks the node to give its sessions up and to end.
        ALTER TABLE statewire.node ADD COLUMN drains boolean NOT NULL DEFAULT false
        --
        -- The secret by which nodes recognise each other: 244 random bits.
        CREATE TABLE statewire.secret (value text NOT NULL)
        --
        INSERT INTO statewire.secret
          VALUES (replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''))
        """),
  ]

  /// The function that ends sessions, also one that is among the ended ones already: it must not keep
  /// the others from being ended.
  static let repeatedEnd = Step(
    oldest: 3,
    sql: """
      CREATE OR REPLACE FUNCTION statewire.expire(this_node bigint, at bigint, maximum bigint)
      RETURNS bigint LANGUAGE plpgsql AS $$
      DECLARE
        candidate uuid;
        number bigint := 0;
      BEGIN
        FOR candidate IN SELECT handle FROM statewire.session WHERE deadline <= at
            AND (node IS NULL OR NOT EXISTS (SELECT FROM statewire.node WHERE id = session.node))
            ORDER BY deadline LIMIT maximum LOOP
          CONTINUE WHEN (SELECT outcome FROM statewire.claim(candidate, this_node)) <> 'owned';
          INSERT INTO statewire.ended (handle, owner)
            SELECT handle, owner FROM statewire.session WHERE handle = candidate AND deadline <= at
            ON CONFLICT (handle) DO NOTHING;
          DELETE FROM statewire.session WHERE handle = candidate AND deadline <= at;
          IF FOUND THEN
            DELETE FROM statewire.entry WHERE session = candidate;
            number := number + 1;
          ELSE
            UPDATE statewire.session SET node = NULL WHERE handle = candidate;
          END IF;
        END LOOP;
        RETURN number;
      END $$
      """)
}
