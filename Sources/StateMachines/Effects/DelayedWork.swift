// SPDX-License-Identifier: Apache-2.0

/// Work of a store that must not begin yet.
public protocol DelayedWork: AnyObject {
  /// Begins the piece of work that has waited longest. If it was cancelled meanwhile it does not
  /// begin.
  func beginNext()
}
