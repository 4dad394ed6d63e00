// SPDX-License-Identifier: Apache-2.0

public import VersionedList

/// The rows of a table in the state of a store, kept up to date by `Table.watch`.
///
/// ```swift
/// struct State: Codable, Sendable { var entries = TableRows<Entry>() }
///
/// case .entriesChanged(let change): state.entries.apply(change)
/// ```
public struct TableRows<Row: Identifiable & Sendable>: Sendable where Row.ID: KeyedListID {
  /// The rows, in the order in which they were added.
  public private(set) var rows: KeyedList<Row>
  /// The position of the rows, for `Table.watch(after:)`; nil before the first change was applied.
  public private(set) var position: TablePosition?

  /// Creates the value before the table is read.
  public init() { rows = [] }

  /// Creates the value of a table, for example in a test.
  ///
  /// - Parameters:
  ///   - rows: The rows, in the order in which they were added.
  ///   - position: The number of changes that the table has had.
  public init(_ rows: some Sequence<Row>, position: TablePosition) {
    (self.rows, self.position) = (KeyedList(rows), position)
  }

  /// Applies what a watch has delivered.
  ///
  /// - Complexity: O(log n) for each changed row.
  public mutating func apply(_ change: TableChange<Row>) {
    if change.isComplete { rows = [] }
    for step in change.steps {
      switch step {
      case .put(let row): rows.append(row)
      case .removed(let id): rows.remove(keyText: id)
      }
    }
    position = change.position
  }
}

extension TableRows: Equatable where Row: Equatable {}
extension TableRows: Encodable where Row: Encodable {}
extension TableRows: Decodable where Row: Decodable {}

/// The changes of a table that a watch delivers: first all rows, then what has changed.
///
/// If the store lags, several changes come as one, and a row that was changed several times comes
/// with its last value.
public struct TableChange<Row: Identifiable & Sendable>: Sendable where Row.ID: KeyedListID {
  /// One change of a row.
  public enum Step: Sendable {
    /// Replaces the row with this id at its place, or adds it at the end.
    case put(Row)
    /// Removes the row whose id has this text (`KeyedListID.keyText`).
    case removed(id: String)
  }

  /// True if `steps` put all rows of the table. Other rows do not exist.
  public let isComplete: Bool
  /// The changes, in order.
  public let steps: [Step]
  /// The position of the table after the changes.
  public let position: TablePosition

  /// Creates a change, for example in a test.
  public init(_ steps: [Step], position: TablePosition, isComplete: Bool = false) {
    (self.steps, self.position, self.isComplete) = (steps, position, isComplete)
  }
}

extension TableChange.Step: Equatable where Row: Equatable {}
extension TableChange: Equatable where Row: Equatable {}
