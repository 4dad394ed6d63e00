// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// A durable value, which all stores and sessions share that use its name.
///
/// ```swift
/// let poll = Document("poll", in: documents, initial: Poll())
///
/// poll.watch(failing: Action.failed, as: Action.pollChanged)
/// poll.update(failing: Action.failed) { poll in poll.votes[option, default: 0] += 1 }
/// ```
///
/// It has the guarantees of a `Table`. The names of its operations are `NAME.update`, `NAME.watch` and
/// `NAME.read`.
public struct Document<Value: Codable & Sendable>: Sendable {
  private let table: StoredTable
  private let coding: RowCoding<Value>
  private let initial: Value

  // A document is the only row of a table. The prefix keeps it apart from the table with its name.
  private static var id: String { "" }

  /// Creates a document. No storage is accessed.
  ///
  /// - Parameters:
  ///   - name: The name, which identifies the document in the storage.
  ///   - storage: The storage; `KindContext.documents` is that of the server.
  ///   - initial: The value before the first write. Members that a stored value lacks are filled in
  ///     from it.
  ///   - version: The version of the stored form of `Value`. Raise it together with a change that needs
  ///     `migrate`.
  ///   - migrate: Converts a stored value of an older version. It returns a value that may lack
  ///     members that `initial` has.
  public init(
    _ name: String, in storage: any DocumentStorage, initial: Value, version: Int = 1,
    migrate: (@Sendable (_ version: Int, _ value: JSONValue) throws -> JSONValue)? = nil
  ) {
    precondition(version >= 1, "the version of a document is at least 1")
    table = StoredTable(storage: storage, name: name, storedName: "document/" + name)
    coding = RowCoding(
      describe: { _ in "the document \(name.quoted())" }, version: version, defaults: initial,
      migrate: migrate)
    self.initial = initial
  }

  /// Returns a feed that gives the value and then each later value, by any store or process; see
  /// `Table.watch`.
  ///
  /// - Parameters:
  ///   - failure: Makes the action for a failure.
  ///   - action: Makes the action for a value.
  public func watch<Action>(
    failing failure: @escaping @Sendable (DocumentError) -> Action,
    as action: @escaping @Sendable (Value) -> Action
  ) -> Effect<Action> {
    table.watch(after: nil, failing: failure) { [coding, initial] rows throws(DocumentError) in
      if case .put(let row) = rows.changes.last { return action(try coding.decode(row)) }
      return rows.isComplete ? action(initial) : nil
    }
  }

  /// Returns an effect that changes the value. No other change happens meanwhile.
  ///
  /// - Parameters:
  ///   - operation: The name of the operation; by default `NAME.update`.
  ///   - action: The action after the write; nil: none, the change comes from the watch.
  ///   - failure: Makes the action for a failure.
  ///   - change: Changes the value. To refuse the input it throws an `InputRefusal`. It may be called
  ///     more than once.
  public func update<Action>(
    operation: String? = nil, then action: Action? = nil,
    failing failure: @escaping @Sendable (DocumentError) -> Action,
    _ change: @escaping @Sendable (inout Value) throws -> Void
  ) -> Effect<Action> {
    table.update(operation ?? "update", reading: [Self.id], then: action, failing: failure) {
      [coding, initial] old, _ throws(DocumentError) in
      var value = initial
      if let old = old[0] { value = try coding.decode(old) }
      do {
        try change(&value)
      } catch {
        throw DocumentError(error)
      }
      let new = try coding.encode(value, id: Self.id)
      return new == old[0] ? [] : [.put(new)]
    }
  }
}
