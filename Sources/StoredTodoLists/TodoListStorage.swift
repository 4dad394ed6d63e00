// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// A database of todo lists, over which `StoredTodoRepository` implements `TodoRepository`.
///
///     operation -> one transaction: list, version + 1, change log
///                        | after the commit
///                        v
///     ListListeners -> TodoFeed of each store that shows the list -> `context.send`
///                        ^
///                        | "there is a newer version", from another process
///     the database
///
/// Every change of a list has a version, one more than the previous change. A feed knows the last
/// version that it has sent. It sends the next version, drops an older one, and after a gap reads
/// the change log, or the list if the log is too short. Therefore the order is correct even if
/// notifications are late, repeated, out of order or lost.
///
/// Both functions throw a `CancellationError` if the task was cancelled, and otherwise an error that
/// the database has reported to the operator.
public protocol TodoListStorage: Sendable {
  /// The listeners of this process.
  var listeners: ListListeners { get }
  /// The order of the operations of this process.
  var line: OperationLine { get }
  /// The largest lists.
  var limits: TodoLimits { get }

  /// Reads the changes of a list since a version, or the list.
  ///
  /// - Parameters:
  ///   - list: The name of the list.
  ///   - version: The version that the caller has; -1 to read the list.
  func read(_ list: ByteString, after version: ListVersion) async throws -> MissedChanges

  /// Carries out an operation, unless one with this id was carried out before, and notifies the
  /// listeners.
  ///
  /// - Parameters:
  ///   - operation: The operation.
  ///   - list: The name of the list.
  ///   - id: A globally unique id of the operation; nil if no session repeats it.
  ///   - place: The place among other operations; nil if the order does not matter.
  /// - Returns: The version of the list afterwards, or the reason why nothing has changed.
  func perform(
    _ operation: TodoOperation, on list: ByteString, once id: OperationID?,
    at place: OperationPlace?
  ) async throws -> Result<ListVersion, OperationRefusal>
}

/// The error of an operation that exceeds a limit.
public struct OperationRefusal: Error, Equatable {
  /// The reason, for the client.
  public let refusal: InputRefusal

  /// Creates an error.
  public init(refusal: InputRefusal) { self.refusal = refusal }
}

/// The changes of a list since a version.
public enum MissedChanges: Sendable {
  /// The changes in order and without a gap, each with its version.
  case changes([(ListVersion, TodoChange)])
  /// The whole list, if the change log does not contain all changes.
  case list(ReadList)
}
