// SPDX-License-Identifier: Apache-2.0

/// The thread of a shard, whatever waits on it.
struct ShardThread: Sendable {
  let executor: any SerialExecutor
  /// Traps on any other thread.
  let check: @Sendable () -> Void
  /// Runs something there, after all else that was handed over in this way.
  let execute: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// How long connections may finish what they were asked for when the server stops.
  static let timeToFinish = Duration.seconds(5)
  /// How long work that was cancelled may take to end then.
  static let timeToDrain = Duration.seconds(3)
}
