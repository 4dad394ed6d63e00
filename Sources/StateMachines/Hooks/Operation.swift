// SPDX-License-Identifier: Apache-2.0

/// An operation that hooks and traces observe.
public struct Operation: Hashable, Sendable {
  /// The kind of an operation.
  public enum Stage: String, CaseIterable, Sendable {
    /// One input, until all its effects have ended; its outputs are its immediate actions.
    case input
    /// The actions of a store, from its opening to its end.
    case action
    /// The view states of a store, from its opening to its end.
    case state
    /// An operation of a repository, service or loader, or other work of an input.
    case operation
    /// A named part of such work.
    case part
  }

  /// The kind of the operation.
  public let stage: Stage
  /// The name of the work, or `"input"`, `"actions"` or `"states"` for the other stages.
  public let name: String
  /// Distinguishes operations of one store and stage.
  public let number: UInt64

  /// Creates an operation from its parts.
  public init(stage: Stage = .operation, name: String, number: UInt64) {
    self.stage = stage
    self.name = name
    self.number = number
  }
}

/// The way in which an operation ended.
public enum OperationEnd: String, Sendable {
  /// The operation has finished without a failure.
  case finished
  /// The operation has failed.
  case failed
  /// The operation was cancelled.
  case cancelled
}

extension Operation {
  static func input(_ inputID: InputID) -> Operation {
    Operation(stage: .input, name: "input", number: inputID.rawValue)
  }

  static let actions = Operation(stage: .action, name: "actions", number: 0)
  static let states = Operation(stage: .state, name: "states", number: 0)
}
