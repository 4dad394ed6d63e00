// SPDX-License-Identifier: Apache-2.0

/// The time at which a session without clients expires.
///
/// An object, because most sessions have a client and need little memory.
final class SessionExpiry {
  /// The time on the shard's clock.
  ///
  /// - Units: the shard's `uptime`.
  let deadline: Duration
  /// The calendar time, for the journal.
  ///
  /// - Units: since 1970.
  let time: Duration

  init(deadline: Duration, time: Duration) {
    self.deadline = deadline
    self.time = time
  }
}
