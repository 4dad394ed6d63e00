// SPDX-License-Identifier: Apache-2.0

public import SQLiteFiles

extension TodoDatabase {
  /// The tables of todo lists.
  public static let schema = Schema([
    Schema.Migration("todoLists", todoLists),
    Schema.Migration("operations", operations),
    Schema.Migration("todoSizes", todoSizes),
  ])

  private static let todoLists = """
    -- A named list. Its version counts the changes it has ever had.
    CREATE TABLE todoList (
      id INTEGER PRIMARY KEY,
      name BLOB NOT NULL UNIQUE,
      version INTEGER NOT NULL
    ) STRICT;

    -- The todos of a list, sorted by position: numbers with room between them.
    CREATE TABLE todo (
      list INTEGER NOT NULL REFERENCES todoList (id),
      position INTEGER NOT NULL,
      id BLOB NOT NULL,
      title BLOB NOT NULL,
      completed INTEGER NOT NULL,
      PRIMARY KEY (list, position)
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX todoByID ON todo (list, id);

    -- The latest changes of a list, one for each version; older ones are trimmed.
    CREATE TABLE todoChange (
      list INTEGER NOT NULL REFERENCES todoList (id),
      version INTEGER NOT NULL,
      operation TEXT NOT NULL,
      todo BLOB NOT NULL,
      -- Of an added or renamed todo.
      title BLOB,
      -- The todo before which another one was moved; null: to the end.
      other BLOB,
      PRIMARY KEY (list, version)
    ) STRICT, WITHOUT ROWID;
    """

  private static let operations = """
    -- The last operations that were asked for by a session that outlives the process, so that none
    -- is carried out again after a restart. The id is text: a scope and a number in it.
    CREATE TABLE operation (
      number INTEGER PRIMARY KEY,
      id BLOB NOT NULL UNIQUE,
      -- The list's version after it.
      version INTEGER NOT NULL
    ) STRICT;
    """

  // Triggers maintain the sizes, so that they are correct whichever process writes, including one
  // that opened the database before this migration.
  private static let todoSizes = """
    -- The size of a list: the bytes of ids and titles, and 16 for each todo (`TodoSize`).
    ALTER TABLE todoList ADD COLUMN todos INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE todoList ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
    UPDATE todoList SET (todos, bytes) = (
      SELECT count(*), ifnull(sum(length(id) + length(title) + 16), 0)
      FROM todo WHERE list = todoList.id
    );

    -- The size of all lists together, and the bytes of their names and 16 for each list. One row.
    CREATE TABLE todoTotal (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      todos INTEGER NOT NULL,
      bytes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO todoTotal
      SELECT 1, ifnull(sum(todos), 0), ifnull(sum(bytes + length(name) + 16), 0) FROM todoList;

    CREATE TRIGGER todoAdded AFTER INSERT ON todo BEGIN
      UPDATE todoList
        SET todos = todos + 1, bytes = bytes + length(new.id) + length(new.title) + 16
        WHERE id = new.list;
    END;
    CREATE TRIGGER todoRemoved AFTER DELETE ON todo BEGIN
      UPDATE todoList
        SET todos = todos - 1, bytes = bytes - length(old.id) - length(old.title) - 16
        WHERE id = old.list;
    END;
    CREATE TRIGGER todoRenamed AFTER UPDATE OF title ON todo BEGIN
      UPDATE todoList SET bytes = bytes + length(new.title) - length(old.title)
        WHERE id = new.list;
    END;
    CREATE TRIGGER todoListAdded AFTER INSERT ON todoList BEGIN
      UPDATE todoTotal
        SET todos = todos + new.todos, bytes = bytes + new.bytes + length(new.name) + 16
        WHERE id = 1;
    END;
    CREATE TRIGGER todoListResized AFTER UPDATE OF todos, bytes ON todoList BEGIN
      UPDATE todoTotal
        SET todos = todos + new.todos - old.todos, bytes = bytes + new.bytes - old.bytes
        WHERE id = 1;
    END;
    """
}
