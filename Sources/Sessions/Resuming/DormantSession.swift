// SPDX-License-Identifier: Apache-2.0

/// A session of an earlier process that is in the journal alone, until a frontend comes or its time is over.
struct DormantSession {
  let owner: String?
  /// When it expires, unless a frontend comes before; later once a frontend waits until it is loaded.
  ///
  /// - Units: the shard's `uptime`.
  var deadline: Duration
  /// True if it has never had a store.
  let isEmpty: Bool
  /// What is kept free for it within the limits of bytes, as long as this is there; nil if nothing is.
  let account: ByteAccount?
}
