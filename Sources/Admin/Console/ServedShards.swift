// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import Transports

/// The shards of a running server, and those of copies, as the thread of the admin interface uses them.
///
/// Each use is a job on the thread of a shard, which copies a bounded number of values.
struct ServedShards: Sendable {
  /// The shards of the server, in the order of their places; empty before the server serves.
  let shards: [ServerStatus.ServedShard]
  /// The shards of copies, by numbers above the places of all shards.
  let copies: [Int: ServerStatus.ServedShard]

  /// The numbers of all shards, sorted.
  var numbers: [Int] { Array(shards.indices) + copies.keys.sorted() }

  private subscript(number: Int) -> ServerStatus.ServedShard? {
    shards.indices.contains(number) ? shards[number] : copies[number]
  }

  /// The time for a shard to respond.
  private static let timeToRespond = TimeAmount.seconds(2)

  /// Calls `body` on the thread of a shard, outside of its turns.
  ///
  /// - Parameters:
  ///   - index: The number of the shard.
  ///   - loop: The loop of the future.
  ///   - body: Copies values; it changes nothing.
  /// - Returns: The result of `body`; nil if there is no such shard, or it does not respond in time.
  func read<Result: Sendable>(
    _ index: Int, on loop: any EventLoop,
    _ body: @escaping @Sendable (isolated Shard) -> Result
  ) -> EventLoopFuture<Result?> {
    let promise = loop.makePromise(of: Result?.self)
    guard let (shard, execute) = self[index] else {
      promise.succeed(nil)
      return promise.futureResult
    }
    let late = loop.scheduleTask(in: Self.timeToRespond) { promise.succeed(nil) }
    execute { promise.succeed(shard.assumeIsolated { body($0) }) }
    promise.futureResult.whenComplete { _ in late.cancel() }
    return promise.futureResult
  }
}
