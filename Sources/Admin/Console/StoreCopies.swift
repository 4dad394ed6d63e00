// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

/// The copies of stores that run from an earlier state.
///
/// Each has a shard of its own, under a virtual clock, on one thread beside those of the server. Their
/// number is bounded, and a copy ends when no console has used it for some time. It belongs to the loop
/// of the admin interface.
final class StoreCopies {
  /// A copy.
  struct Copy {
    let shard: Shard
    /// The id of the session that was copied.
    let original: String
    let source: StoreCopy
    let work: Shard.WithheldWork
    var lastUse: NIODeadline
  }

  /// The greatest number of copies.
  static let maximum = 8
  /// The time without use after which a copy ends.
  private static let timeToLive = TimeAmount.minutes(5)
  private static let checkInterval = TimeAmount.seconds(30)
  /// Shards of servers have lower numbers.
  private static let firstNumber = 10_000

  private let loop: any EventLoop
  private let queue = DispatchQueue(label: "statewire.copies")
  private var copies: [Int: Copy] = [:]
  private var lastNumber = StoreCopies.firstNumber
  private var isChecking = false

  init(on loop: any EventLoop) { self.loop = loop }

  /// Returns a copy; nil if there is none with the number.
  subscript(number: Int) -> Copy? { copies[number] }

  /// Returns false for the number of a copy that has ended.
  func exists(_ number: Int) -> Bool { number < Self.firstNumber || copies[number] != nil }

  /// The number of copies.
  var count: Int { copies.count }

  /// The shards of the copies.
  var served: [Int: ServerStatus.ServedShard] {
    copies.mapValues { ($0.shard, execute) }
  }

  private var execute: @Sendable (@escaping @Sendable () -> Void) -> Void {
    { [queue] body in queue.async(execute: body) }
  }

  /// Records the time at which a console uses a copy.
  func use(_ number: Int) { copies[number]?.lastUse = .now() }

  /// Begins a copy. The copy that was used least recently ends if there are too many.
  ///
  /// - Returns: The place of its session; a sentence if it cannot begin.
  func begin(
    _ source: StoreCopy, of original: (id: String, shard: Shard), sendsInputs: Bool,
    withholding work: Shard.WithheldWork
  ) -> EventLoopFuture<Result<SessionIndex.Place, JSONError>> {
    lastNumber += 1
    let number = lastNumber
    let queue = queue
    let tracker = IdleTracker(
      checkThread: { dispatchPrecondition(condition: .onQueue(queue)) }, execute: execute)
    let shard = Shard(of: source, testing: tracker, withholding: work, original: original.shard)
    if copies.count >= Self.maximum,
      let oldest = copies.min(by: { $0.value.lastUse < $1.value.lastUse })
    {
      end(oldest.key)
    }
    copies[number] = Copy(
      shard: shard, original: original.id, source: source, work: work, lastUse: .now())
    check()
    let promise = loop.makePromise(of: Result<SessionIndex.Place, JSONError>.self)
    execute {
      let result = shard.assumeIsolated { shard in
        Result { () throws(JSONError) in
          SessionIndex.Place(
            shard: number, key: try shard.begin(source, sendsInputs: sendsInputs, at: .now))
        }
      }
      promise.succeed(result)
    }
    let bound = NIOLoopBound(self, eventLoop: loop)
    return promise.futureResult.map { result in
      if case .failure = result { bound.value.end(number) }
      return result
    }
  }

  /// Ends a copy.
  func end(_ number: Int) {
    guard let copy = copies.removeValue(forKey: number) else { return }
    execute { copy.shard.assumeIsolated { $0.endCopy() } }
  }

  /// Ends copies that are not used, and checks again while there are some.
  private func check() {
    guard !isChecking, !copies.isEmpty else { return }
    isChecking = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.scheduleTask(in: Self.checkInterval) {
      let copies = bound.value
      copies.isChecking = false
      for (number, copy) in copies.copies where copy.lastUse + Self.timeToLive < .now() {
        copies.end(number)
      }
      copies.check()
    }
  }
}

extension StoreCopies.Copy {
  /// The copy as JSON.
  var value: JSONValue {
    [
      "session": .string(original), "store": .string(source.store),
      "revision": JSONValue(source.revision), "work": .string(work.rawValue),
      "omitted": JSONValue(source.omitted),
    ]
  }
}

extension CopyProgress {
  /// The progress as JSON.
  var value: JSONValue {
    [
      "total": JSONValue(total), "sent": JSONValue(sent), "refused": JSONValue(refused),
      "busy": .bool(isBusy),
    ]
  }
}
