// SPDX-License-Identifier: Apache-2.0

/// Updates for passive subscribers that are sent at the end of a turn, or are delayed briefly.
public protocol PendingBroadcast: AnyObject {
  /// True while the updates are delayed; set by the coalescer that delays them.
  var isHeld: Bool { get set }
  /// True if the updates are so large that they should be sent without delay.
  var isDue: Bool { get }

  /// Sends the updates to all passive subscribers, in a turn.
  func send()
}
