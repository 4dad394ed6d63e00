// SPDX-License-Identifier: Apache-2.0

/// The event loop that writes are coalesced on.
public protocol DeliveryLoop: AnyObject {
  /// Time since some start.
  /// - Units: nanoseconds.
  var uptime: Int64 { get }

  /// Calls `body` after all events that the loop has at hand.
  func afterOthers(_ body: @escaping () -> Void)

  /// Calls `body` at a time.
  func at(_ uptime: Int64, _ body: @escaping () -> Void)
}
