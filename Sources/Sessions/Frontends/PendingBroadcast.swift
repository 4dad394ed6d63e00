// SPDX-License-Identifier: Apache-2.0

/// What there is for those who look on, when a turn ends: it is sent then, or waits for a moment.
public protocol PendingBroadcast: AnyObject {
  /// Whether it waits; noted by who lets it wait.
  var isHeld: Bool { get set }
  /// Whether it has become so much that it is to go out before its time.
  var isDue: Bool { get }

  /// Sends it to all of them, in a turn.
  func send()
}
