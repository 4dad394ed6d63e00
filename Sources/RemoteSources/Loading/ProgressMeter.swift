// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// Turns counts of bytes into progress that is worth telling: at most 101 times per load.
///
/// It goes by the bytes alone and asks no clock, so that a load tells the same at any speed.
struct ProgressMeter {
  private var last: LoadingProgress?

  /// The progress with so many bytes there; nil if it is no news.
  ///
  /// - Parameter total: How many there will be; nil if nobody knows, which is told once.
  mutating func news(count: Int, of total: Int?) -> LoadingProgress? {
    let progress = LoadingProgress(completed: count, of: total)
    guard progress != last else { return nil }
    last = progress
    return progress
  }
}
