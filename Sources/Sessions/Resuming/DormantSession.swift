// SPDX-License-Identifier: Apache-2.0

/// A session of an earlier process that is only in the journal, until a client attaches or it
/// expires.
struct DormantSession {
  /// The identity that has opened the session; nil if there are no identities.
  let owner: String?
  /// The time at which it expires if no client attaches before; postponed while a client waits for
  /// it to be loaded.
  ///
  /// - Units: the shard's `uptime`.
  var deadline: Duration
  /// True if it has never had a store.
  let isEmpty: Bool
  /// The bytes that are reserved for it within the limits while this object exists; nil if none
  /// are.
  let account: ByteAccount?
}
