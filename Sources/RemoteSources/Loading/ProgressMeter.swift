// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// A filter that turns byte counts into progress reports, at most 101 per load.
///
/// It depends only on the bytes and not on a clock, so that a load reports the same at any speed.
struct ProgressMeter {
  private var last: LoadingProgress?

  /// Returns the progress for a number of bytes; nil if it is the same as before.
  ///
  /// - Parameters:
  ///   - count: Number of bytes that have arrived.
  ///   - total: Number of bytes of the whole; nil if it is unknown, which is reported once.
  mutating func change(count: Int, of total: Int?) -> LoadingProgress? {
    let progress = LoadingProgress(completed: count, of: total)
    guard progress != last else { return nil }
    last = progress
    return progress
  }
}
