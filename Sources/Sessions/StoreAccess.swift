// SPDX-License-Identifier: Apache-2.0

/// A use of a store that its kind can refuse to a viewer.
public enum StoreAccess: Sendable {
  /// Opening a store, or using a shared one for the first time in a session.
  case open
  /// Subscribing to a store, or reading its state.
  case subscribe
  /// Sending an input.
  case send
}
