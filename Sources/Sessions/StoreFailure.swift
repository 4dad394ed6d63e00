// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

/// A new state of a store that cannot be encoded, or a chain of actions without end; both are errors
/// of the machine.
public struct StoreFailure: Error, CustomStringConvertible {
  /// The name of the store.
  public let store: String
  /// The name of the store kind.
  public let kind: String
  /// The error; its path leads into the state if that cannot be encoded.
  public let error: JSONError

  /// The error as a line of the log.
  public var description: String {
    let subject = "the store \(store.quoted(upTo: 64)) of kind \(kind.quoted(upTo: 64))"
    if error.code == .endless { return "\(subject) ended a chain of actions: \(error.message)" }
    return """
      a new state of \(subject) cannot be encoded, at "\(error.pathDescription)": \(error.message); the store \
      continues from the state before
      """
  }
}
