// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

/// An error of a machine: a new state that cannot be encoded, a chain of actions without end, or a
/// feed whose id another one has.
public struct StoreFailure: Error, CustomStringConvertible {
  /// The name of the store.
  public let store: String
  /// The name of the store kind.
  public let kind: String
  /// The error; its path leads into the state if that cannot be encoded.
  public let error: JSONError
  /// The first digits of the session's handle; nil if it has none.
  public var session: String?
  /// The JSON text of the id of the request whose input was undone, at most 100 bytes of it; nil if
  /// the error belongs to no request.
  public var request: String?

  /// True if each input repeats the error, so that a log needs it once for each kind.
  public var isPermanent: Bool { error.code == .runsAlready }

  /// The error as a line of the log.
  public var description: String {
    let subject = "the store \(store.quoted(upTo: 64)) of kind \(kind.quoted(upTo: 64))"
    if error.code == .endless { return "\(subject) ended a chain of actions: \(error.message)" }
    if error.code == .runsAlready { return "\(subject): \(error.message)" }
    return """
      a new state of \(subject) cannot be encoded, at "\(error.pathDescription)": \(error.message); the store \
      continues from the state before
      """
  }
}
