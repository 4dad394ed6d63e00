// SPDX-License-Identifier: Apache-2.0

extension PostgresSchema {
  static let todoLists = """
    -- A named list. Its version counts the changes it has ever had. A change holds the lock of the row
    -- until its commit, so that versions become visible in order.
    CREATE TABLE statewire.todo_list (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name bytea NOT NULL,
      version bigint NOT NULL DEFAULT 0,
      -- The bytes of ids and titles, and 16 for each todo.
      todos bigint NOT NULL DEFAULT 0,
      bytes bigint NOT NULL DEFAULT 0
    ) WITH (fillfactor = 50)
    --
    CREATE UNIQUE INDEX ON statewire.todo_list (sha256(name))
    --
    -- The todos of a list, sorted by position: numbers with room between them.
    CREATE TABLE statewire.todo (
      list bigint NOT NULL,
      position bigint NOT NULL,
      id bytea NOT NULL,
      title bytea NOT NULL,
      completed boolean NOT NULL DEFAULT false
    ) WITH (autovacuum_vacuum_scale_factor = 0.05)
    --
    CREATE UNIQUE INDEX ON statewire.todo (list, sha256(id))
    --
    CREATE INDEX ON statewire.todo (list, position)
    --
    -- The latest changes of a list, one for each version; older ones are trimmed.
    CREATE TABLE statewire.todo_change (
      list bigint NOT NULL,
      version bigint NOT NULL,
      operation text NOT NULL,
      todo bytea NOT NULL,
      -- Of an added or renamed todo.
      title bytea,
      -- The todo before which another one was moved; null: to the end.
      other bytea,
      PRIMARY KEY (list, version)
    )
    --
    -- Reads a list: a row `list` with the version; then a row for each change since a version, or for
    -- each todo (`todo` or `done`) if the log does not have all of these changes.
    CREATE FUNCTION statewire.todo_read(list_name bytea, since bigint)
    RETURNS TABLE (number bigint, word text, todo bytea, title bytea, other bytea)
    LANGUAGE plpgsql STABLE AS $$
    #variable_conflict use_column
    DECLARE
      found_list statewire.todo_list;
      logged bigint := 0;
    BEGIN
      SELECT * INTO found_list FROM statewire.todo_list WHERE sha256(name) = sha256(list_name);
      IF NOT FOUND THEN RETURN; END IF;
      RETURN QUERY SELECT found_list.version, 'list', NULL::bytea, NULL::bytea, NULL::bytea;
      IF since BETWEEN 0 AND found_list.version THEN
        SELECT count(*) INTO logged FROM statewire.todo_change
          WHERE list = found_list.id AND version > since;
        IF logged = found_list.version - since THEN
          RETURN QUERY SELECT c.version, c.operation, c.todo, c.title, c.other
            FROM statewire.todo_change c WHERE c.list = found_list.id AND c.version > since
            ORDER BY c.version;
          RETURN;
        END IF;
      END IF;
      RETURN QUERY SELECT 0::bigint, CASE WHEN t.completed THEN 'done' ELSE 'todo' END,
          t.id, t.title, NULL::bytea
        FROM statewire.todo t WHERE t.list = found_list.id ORDER BY t.position;
    END $$
    """

  static let todoOperations = """
    -- Spreads the neighbourhood of a place evenly, so that it has free positions.
    --
    -- A wider neighbourhood must have larger gaps, so that the narrow neighbourhoods in it can fill up
    -- again before the wider one is spread again (Bender et al., "Two Simplified Algorithms for
    -- Maintaining Order in a List", 2002).
    CREATE FUNCTION statewire.todo_spread(this_list bigint, above bigint) RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE
      most CONSTANT bigint := 1::bigint << 61;
      radius bigint := 16;
      sufficient bigint := 65536;
      lower bigint[];
      upper bigint[];
      low bigint;
      high bigint;
      first bigint;
      size bigint;
      width bigint;
    BEGIN
      LOOP
        lower := ARRAY(SELECT position FROM statewire.todo
          WHERE list = this_list AND position < coalesce(above, most)
          ORDER BY position DESC LIMIT radius + 1);
        upper := ARRAY(SELECT position FROM statewire.todo
          WHERE list = this_list AND position >= coalesce(above, most)
          ORDER BY position LIMIT radius + 1);
        -- The neighbours, which keep their positions; null at the end of the list.
        low := lower[radius + 1];
        high := upper[radius + 1];
        size := least(cardinality(lower), radius) + least(cardinality(upper), radius);
        width := (size + 1) << 32;
        first := coalesce(low, greatest(-most, coalesce(high - width, -(width / 2))));
        width := (coalesce(high, least(most, first + width)) - first) / (size + 1);
        IF width >= sufficient OR (low IS NULL AND high IS NULL) THEN
          UPDATE statewire.todo SET position = first + width * place FROM (
              SELECT id AS moved, row_number() OVER (ORDER BY position) AS place
                FROM statewire.todo WHERE list = this_list
                  AND position > coalesce(low, -most) AND position < coalesce(high, most)
            ) AS spread
            WHERE list = this_list AND sha256(id) = sha256(moved);
          RETURN;
        END IF;
        radius := radius * 4;
        sufficient := sufficient * 2;
      END LOOP;
    END $$
    --
    -- Returns a free position before a todo; at the end if it is null.
    CREATE FUNCTION statewire.todo_place(this_list bigint, other bytea) RETURNS bigint
    LANGUAGE plpgsql AS $$
    DECLARE
      most CONSTANT bigint := 1::bigint << 61;
      step CONSTANT bigint := 1::bigint << 32;
      below bigint;
      above bigint;
      place bigint;
    BEGIN
      FOR attempt IN 1..2 LOOP
        above := NULL;
        IF other IS NOT NULL THEN
          SELECT position INTO above FROM statewire.todo
            WHERE list = this_list AND sha256(id) = sha256(other);
        END IF;
        SELECT max(position) INTO below FROM statewire.todo
          WHERE list = this_list AND position < coalesce(above, most);
        place := CASE
          WHEN below IS NULL AND above IS NULL THEN 0
          WHEN above IS NULL AND below < most - step THEN below + step
          WHEN below IS NULL AND above > step - most THEN above - step
          ELSE coalesce(below, -most) + (coalesce(above, most) - coalesce(below, -most)) / 2
        END;
        IF place > coalesce(below, -most) AND place < coalesce(above, most) THEN
          RETURN place;
        END IF;
        PERFORM statewire.todo_spread(this_list, above);
      END LOOP;
      RAISE EXCEPTION 'a list has no free position' USING ERRCODE = '54000';
    END $$
    --
    -- Carries out one operation on a list, unless this was done before.
    --
    -- The outcome is `changed`; `same` if nothing changes, or was carried out before; `taken` if the
    -- list has the id that was made for a new todo; or `refused` if a size exceeds a maximum.
    CREATE FUNCTION statewire.todo_perform(
      list_name bytea, once bytea, operation text, this_id bytea, is_made boolean, new_title bytea,
      other bytea, log_length bigint, most_todos bigint, most_bytes bigint, most_total_todos bigint,
      most_total_bytes bigint,
      OUT outcome text, OUT new_version bigint, OUT added_todos bigint, OUT added_bytes bigint,
      OUT list_todos bigint, OUT list_bytes bigint, OUT total_todos bigint, OUT total_bytes bigint
    ) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      found_list statewire.todo_list;
      found_todo statewire.todo;
      is_new boolean := false;
      is_over boolean := false;
      above bigint;
      below bigint;
      place bigint;
    BEGIN
      LOOP
        SELECT * INTO found_list FROM statewire.todo_list WHERE sha256(name) = sha256(list_name)
          FOR UPDATE;
        EXIT WHEN FOUND;
        IF operation <> 'add' THEN
          outcome := 'same';
          new_version := 0;
          INSERT INTO statewire.operation (id, version) VALUES (sha256(once), 0)
            ON CONFLICT DO NOTHING;
          RETURN;
        END IF;
        INSERT INTO statewire.todo_list (name) VALUES (list_name) ON CONFLICT DO NOTHING
          RETURNING * INTO found_list;
        is_new := FOUND;
        EXIT WHEN FOUND;
      END LOOP;
      outcome := 'same';
      SELECT version INTO new_version FROM statewire.operation WHERE id = sha256(once);
      IF FOUND THEN RETURN; END IF;
      new_version := found_list.version;
      SELECT * INTO found_todo FROM statewire.todo
        WHERE list = found_list.id AND sha256(id) = sha256(this_id);
      IF operation = 'add' AND found_todo.id IS NOT NULL AND is_made THEN
        outcome := 'taken';
        RETURN;
      END IF;
      IF operation = 'move' AND found_todo.id IS NOT NULL THEN
        IF other IS NOT NULL THEN
          SELECT position INTO above FROM statewire.todo
            WHERE list = found_list.id AND sha256(id) = sha256(other);
        END IF;
        SELECT max(position) INTO below FROM statewire.todo
          WHERE list = found_list.id AND position < coalesce(above, 1::bigint << 61);
      END IF;
      -- Null if the todo does not exist.
      IF (CASE operation
        WHEN 'add' THEN found_todo.id IS NULL
        WHEN 'remove' THEN found_todo.id IS NOT NULL
        WHEN 'rename' THEN found_todo.title <> new_title
        WHEN 'complete' THEN NOT found_todo.completed
        WHEN 'reopen' THEN found_todo.completed
        WHEN 'move' THEN found_todo.id IS NOT NULL AND (other IS NULL) = (above IS NULL)
          AND found_todo.position IS DISTINCT FROM above
          AND found_todo.position IS DISTINCT FROM below
      END) THEN outcome := 'changed'; END IF;
      IF outcome = 'changed' THEN
        added_todos := CASE operation WHEN 'add' THEN 1 WHEN 'remove' THEN -1 ELSE 0 END;
        added_bytes := CASE operation
          WHEN 'add' THEN length(this_id) + length(new_title) + 16
          WHEN 'remove' THEN -length(found_todo.id) - length(found_todo.title) - 16
          WHEN 'rename' THEN length(new_title) - length(found_todo.title)
          ELSE 0
        END;
        list_todos := found_list.todos + added_todos;
        list_bytes := found_list.bytes + added_bytes;
        is_over := (added_todos > 0 AND list_todos > most_todos)
          OR (added_bytes > 0 AND list_bytes > most_bytes);
        IF NOT is_over AND (added_todos <> 0 OR added_bytes <> 0) THEN
          SELECT added.is_over, added.total_count, added.total_bytes
            INTO is_over, total_todos, total_bytes
            FROM statewire.add_to_total('todo', found_list.id % 16, added_todos,
              added_bytes + CASE WHEN is_new THEN length(list_name) + 16 ELSE 0 END,
              most_total_todos, most_total_bytes) AS added;
        END IF;
        IF is_over THEN
          outcome := 'refused';
          IF is_new THEN DELETE FROM statewire.todo_list WHERE id = found_list.id; END IF;
          RETURN;
        END IF;
        CASE operation
        WHEN 'add' THEN
          place := statewire.todo_place(found_list.id, NULL);
          INSERT INTO statewire.todo VALUES (found_list.id, place, this_id, new_title);
        WHEN 'remove' THEN
          DELETE FROM statewire.todo WHERE list = found_list.id AND sha256(id) = sha256(this_id);
        WHEN 'rename' THEN
          UPDATE statewire.todo SET title = new_title
            WHERE list = found_list.id AND sha256(id) = sha256(this_id);
        WHEN 'complete', 'reopen' THEN
          UPDATE statewire.todo SET completed = operation = 'complete'
            WHERE list = found_list.id AND sha256(id) = sha256(this_id);
        WHEN 'move' THEN
          place := statewire.todo_place(found_list.id, other);
          UPDATE statewire.todo SET position = place
            WHERE list = found_list.id AND sha256(id) = sha256(this_id);
        END CASE;
        new_version := found_list.version + 1;
        UPDATE statewire.todo_list SET version = new_version, todos = list_todos, bytes = list_bytes
          WHERE id = found_list.id;
        INSERT INTO statewire.todo_change
          VALUES (found_list.id, new_version, operation, this_id, new_title, other);
        IF new_version % greatest(1, log_length / 4) = 0 THEN
          DELETE FROM statewire.todo_change
            WHERE list = found_list.id AND version <= new_version - log_length;
        END IF;
      END IF;
      INSERT INTO statewire.operation (id, version) VALUES (sha256(once), new_version);
    END $$
    """
}
