// SPDX-License-Identifier: Apache-2.0

/// The event loop on which writes are coalesced.
public protocol DeliveryLoop: AnyObject {
  /// The time since an arbitrary start.
  ///
  /// - Units: nanoseconds.
  var uptime: Int64 { get }

  /// Calls `body` after all events that are available to the loop now.
  func afterOthers(_ body: @escaping () -> Void)

  /// Calls `body` at a time of `uptime`.
  func at(_ uptime: Int64, _ body: @escaping () -> Void)
}
