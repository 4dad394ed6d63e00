// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// A durable table of rows, which all stores and sessions share that use its name.
///
/// ```swift
/// struct GuestBook: StateMachine {
///   let entries: Table<Entry>
///
///   var initialEffect: Effect<Action> {
///     entries.watch(failing: Action.failed, as: Action.entriesChanged)
///   }
///
///   func effect(of input: Input, in state: State) -> Effect<Action> {
///     switch input {
///     case .signed(let name):
///       entries.append(failing: Action.failed) { number in Entry(id: number, name: name) }
///     }
///   }
/// ```
///
/// - Order: the changes of one table have the same order for all watches of all processes. The
///   writes of one store are carried out in the order in which it began them.
/// - Responses: a write ends after the watches of the same `Table` value have delivered it. So a
///   request that waits for the effects of its input gets its response after its own update. Make
///   one value for each store, in the factory of its kind: then it waits for no other store.
/// - Exactly once: a write of a journaled session is carried out once, even if the process was
///   killed before it recorded the result and the write runs again (`Effect.identified`).
/// - Refusals and limits: the input is refused, and nothing has changed.
/// - Faults: the names of the operations are `NAME.put`, `NAME.append`, `NAME.update`, `NAME.remove`
///   and `NAME.watch`; each attempt of a watch to read is a part `NAME.read`.
public struct Table<Row: Codable & Identifiable & Sendable>: Sendable where Row.ID: KeyedListID {
  let table: StoredTable
  let coding: RowCoding<Row>

  /// Creates a table. No storage is accessed.
  ///
  /// - Parameters:
  ///   - name: The name, which identifies the table in the storage: one name for one type of rows.
  ///   - storage: The storage; `KindContext.documents` is that of the server.
  ///   - version: The version of the stored form of `Row`. Raise it together with a change that needs
  ///     `migrate`.
  ///   - defaults: A row from which members are filled in that a stored row lacks; nil: none.
  ///   - migrate: Converts a stored row of an older version. It returns a row that may lack members
  ///     that `defaults` has.
  public init(
    _ name: String, in storage: any DocumentStorage, version: Int = 1, defaults: Row? = nil,
    migrate: (@Sendable (_ version: Int, _ row: JSONValue) throws -> JSONValue)? = nil
  ) {
    precondition(version >= 1, "the version of a table is at least 1")
    table = StoredTable(storage: storage, name: name, storedName: name)
    coding = RowCoding(
      describe: { id in "the row \(id.quoted()) of the table \(name.quoted())" }, version: version,
      defaults: defaults, migrate: migrate)
  }

  /// Returns a feed that gives all rows and then each change, by any store or process.
  ///
  /// An input that begins it is settled once the rows have been given. A newer call of the same store
  /// replaces an older one. If the table cannot be read, the feed gives the failure and tries again
  /// after 1, 2, 4, 8, 16, 30, 30 … seconds.
  ///
  /// - Parameters:
  ///   - position: The position that the state has (`TableRows.position`): the feed begins with what
  ///     has changed since then. Nil: it begins with all rows.
  ///   - failure: Makes the action for a failure.
  ///   - action: Makes the action for a change, which `TableRows.apply` applies.
  public func watch<Action>(
    after position: TablePosition? = nil,
    failing failure: @escaping @Sendable (DocumentError) -> Action,
    as action: @escaping @Sendable (TableChange<Row>) -> Action
  ) -> Effect<Action> {
    table.watch(after: position, failing: failure) { [coding] rows throws(DocumentError) in
      var steps: [TableChange<Row>.Step] = []
      steps.reserveCapacity(rows.changes.count)
      for change in rows.changes {
        switch change {
        case .put(let row): steps.append(.put(try coding.decode(row)))
        case .removed(let id): steps.append(.removed(id: id))
        }
      }
      return action(TableChange(steps, position: rows.position, isComplete: rows.isComplete))
    }
  }
}

// MARK: - Writes

extension Table {
  /// Returns an effect that replaces the row with the same id at its place, or adds a row at the end.
  ///
  /// - Parameters:
  ///   - row: The row.
  ///   - operation: The name of the operation; by default `NAME.put`.
  ///   - action: The action after the write; nil: none, the change comes from the watch.
  ///   - failure: Makes the action for a failure.
  public func put<Action>(
    _ row: Row, operation: String? = nil, then action: Action? = nil,
    failing failure: @escaping @Sendable (DocumentError) -> Action
  ) -> Effect<Action> {
    let id = row.id.keyText
    return table.update(operation ?? "put", reading: [id], then: action, failing: failure) {
      [coding] old, _ throws(DocumentError) in
      let new = try coding.encode(row, id: id)
      return new == old[0] ? [] : [.put(new)]
    }
  }

  /// Returns an effect that removes a row. It is not an error if there is none.
  ///
  /// - Parameters:
  ///   - id: The id of the row.
  ///   - operation: The name of the operation; by default `NAME.remove`.
  ///   - action: The action after the write; nil: none, the change comes from the watch.
  ///   - failure: Makes the action for a failure.
  public func remove<Action>(
    _ id: Row.ID, operation: String? = nil, then action: Action? = nil,
    failing failure: @escaping @Sendable (DocumentError) -> Action
  ) -> Effect<Action> {
    let id = id.keyText
    return table.update(operation ?? "remove", reading: [id], then: action, failing: failure) {
      old, _ in old[0] == nil ? [] : [.removed(id: id)]
    }
  }

  /// Returns an effect that changes one row. No other change happens meanwhile.
  ///
  /// - Parameters:
  ///   - id: The id of the row.
  ///   - operation: The name of the operation; by default `NAME.update`.
  ///   - action: The action after the write; nil: none, the change comes from the watch.
  ///   - failure: Makes the action for a failure.
  ///   - change: Changes the row, which is nil if it does not exist; nil removes it. To refuse the
  ///     input it throws an `InputRefusal`. It may be called more than once.
  public func update<Action>(
    _ id: Row.ID, operation: String? = nil, then action: Action? = nil,
    failing failure: @escaping @Sendable (DocumentError) -> Action,
    _ change: @escaping @Sendable (inout Row?) throws -> Void
  ) -> Effect<Action> {
    let text = id.keyText
    return table.update(operation ?? "update", reading: [text], then: action, failing: failure) {
      [coding] old, _ throws(DocumentError) in
      var row: Row?
      if let old = old[0] { row = try coding.decode(old) }
      do {
        try change(&row)
      } catch {
        throw DocumentError(error)
      }
      guard let row else { return old[0] == nil ? [] : [.removed(id: text)] }
      guard row.id.keyText == text else {
        throw DocumentError(
          .invalid, "\(coding.describe(text)) cannot get another id: remove it, and put a row")
      }
      let new = try coding.encode(row, id: text)
      return new == old[0] ? [] : [.put(new)]
    }
  }
}

extension Table where Row.ID == Int {
  /// Returns an effect that adds a row at the end, with a number that no row of the table has had.
  ///
  /// - Parameters:
  ///   - operation: The name of the operation; by default `NAME.append`.
  ///   - action: The action after the write; nil: none, the change comes from the watch.
  ///   - failure: Makes the action for a failure.
  ///   - make: Returns the row with this number as its id. It may be called more than once.
  public func append<Action>(
    operation: String? = nil, then action: Action? = nil,
    failing failure: @escaping @Sendable (DocumentError) -> Action,
    _ make: @escaping @Sendable (_ number: Int) -> Row
  ) -> Effect<Action> {
    table.update(operation ?? "append", reading: [], then: action, failing: failure) {
      [coding] _, next throws(DocumentError) in
      let row = make(Int(next.rawValue))
      return [.put(try coding.encode(row, id: row.id.keyText))]
    }
  }
}
