// SPDX-License-Identifier: Apache-2.0

/// The thread of a shard, independent of the loop that runs on it.
struct ShardThread: Sendable {
  let executor: any SerialExecutor
  /// Traps on any other thread.
  let check: @Sendable () -> Void
  /// Runs a body on the thread, after all bodies that were passed before.
  let execute: @Sendable (@escaping @Sendable () -> Void) -> Void

  /// The time for connections to finish their open requests when the server stops.
  static let timeToFinish = Duration.seconds(5)
  /// The time for cancelled work to end after that.
  static let timeToDrain = Duration.seconds(3)
}
