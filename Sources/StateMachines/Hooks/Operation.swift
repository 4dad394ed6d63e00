// SPDX-License-Identifier: Apache-2.0

/// What hooks and traces observe.
public struct Operation: Hashable, Sendable {
  /// Where in a store it is.
  public enum Stage: String, CaseIterable, Sendable {
    /// One input, until all that it set off has ended; its outputs are its immediate actions.
    case input
    /// The actions of a store, from its opening to its end.
    case action
    /// The view states of a store, from its opening to its end.
    case state
    /// An operation of a repository, service or loader, or other work that an input set off.
    case operation
    /// A named part of such work.
    case part
  }

  public let stage: Stage
  /// `"input"`, `"actions"`, `"states"`, or the name that the work was given.
  public let name: String
  /// Tells operations of one store and stage apart.
  public let number: UInt64

  public init(stage: Stage = .operation, name: String, number: UInt64) {
    self.stage = stage
    self.name = name
    self.number = number
  }
}

/// How an operation ended.
public enum OperationEnd: String, Sendable {
  case finished
  case failed
  case cancelled
}

extension Operation {
  static func input(_ inputID: InputID) -> Operation {
    Operation(stage: .input, name: "input", number: inputID.rawValue)
  }

  static let actions = Operation(stage: .action, name: "actions", number: 0)
  static let states = Operation(stage: .state, name: "states", number: 0)
}
