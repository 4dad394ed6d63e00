// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A new state of a store that cannot be encoded, which is a mistake of its machine.
public struct StoreFailure: Error, CustomStringConvertible {
  public let store: String
  public let kind: String
  /// Its path leads into the state.
  public let error: JSONError

  public var description: String {
    """
    a new state of the store \(store.quoted(upTo: 64)) of kind \(kind.quoted(upTo: 64)) cannot be encoded, at \
    "\(error.pathDescription)": \(error.message); the store continues from the state before
    """
  }
}
