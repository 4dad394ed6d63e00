// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A new state of a store that cannot be encoded, which is an error of its machine.
public struct StoreFailure: Error, CustomStringConvertible {
  /// The name of the store.
  public let store: String
  /// The name of the store kind.
  public let kind: String
  /// The error of the encoder; its path leads into the state.
  public let error: JSONError

  /// The error as a line of the log.
  public var description: String {
    """
    a new state of the store \(store.quoted(upTo: 64)) of kind \(kind.quoted(upTo: 64)) cannot be encoded, at \
    "\(error.pathDescription)": \(error.message); the store continues from the state before
    """
  }
}
