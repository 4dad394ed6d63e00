// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOPosix
import ServerCore
import StateMachines
import TestSupport
import Testing

@testable import Transports

@Suite("Jobs on an event loop", .timeLimit(.minutes(15)))
struct LoopExecutorTests {
  /// Records events on an event loop; any thread can read them.
  private actor Witness {
    let executor: LoopExecutor
    private let all = Lock([String]())

    /// The events so far, also after the end of the loop.
    nonisolated var seen: [String] { all.withLock { $0 } }

    init(_ executor: LoopExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func see(_ what: String) { all.withLock { $0.append(what) } }

    /// Creates jobs that are all ready before the loop checks for other events.
    func begin(_ count: Int, beside beginOther: () -> Void) -> [Task<Void, Never>] {
      beginOther()
      return (1...count).map { number in Task { see("\(number)") } }
    }
  }

  /// Adds a closure that adds the next one, and so on.
  private func chain(_ number: Int, on executor: LoopExecutor, _ witness: Witness) {
    executor.enqueue {
      witness.assumeIsolated { $0.see("\(number)") }
      if number < 20 { chain(number + 1, on: executor, witness) }
    }
  }

  private final class SocketReader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    let witness: Witness
    init(_ witness: Witness) { self.witness = witness }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      witness.assumeIsolated { $0.see("socket") }
    }
  }

  /// Returns a channel that reads what is written to it; the witness sees each read.
  private func channel(
    to witness: Witness, on group: MultiThreadedEventLoopGroup
  ) async throws -> any Channel {
    let pipe = try LoopPipe()
    return try await NIOPipeBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(SocketReader(witness))
        }
      }
      .takingOwnershipOfDescriptors(input: pipe.readEnd, output: pipe.writeEnd).get()
  }

  /// Calls `body` with an executor on the loop of a new group.
  private func withExecutor(
    jobsThatTake step: Duration,
    _ body: (LoopExecutor, MultiThreadedEventLoopGroup) async throws -> Void
  ) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let executor = LoopExecutor(loop, now: TestTime(step).now)
    let shard = Shard(executor: executor, kinds: [])
    let registry = NIOLoopBoundBox.makeBoxSendingValue(
      ConnectionRegistry(ServerSettings(), of: shard, on: loop), eventLoop: loop)
    do {
      try await YieldQueue.begin(on: loop, for: registry, executor).get()
      try await body(executor, group)
    } catch {
      try await group.shutdownGracefully()
      throw error
    }
    try await group.shutdownGracefully()
  }

  // A thousand stores that loaded a long list delayed all other clients by half a minute.
  @Test("the loop reads sockets between long jobs")
  func long() async throws {
    try await withExecutor(jobsThatTake: .milliseconds(5)) { executor, group in
      let witness = Witness(executor)
      let channel = try await channel(to: witness, on: group)
      let tasks = await witness.begin(20) {
        channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
      }
      for task in tasks { await task.value }
      let seen = witness.seen
      #expect(seen.filter { $0 != "socket" } == (1...20).map { "\($0)" })
      // After the job that created the others, and at most one more.
      #expect(seen.prefix(2).contains("socket"))
    }
  }

  @Test("the loop reads sockets between closures that add others")
  func closures() async throws {
    try await withExecutor(jobsThatTake: .milliseconds(5)) { executor, group in
      let witness = Witness(executor)
      let channel = try await channel(to: witness, on: group)
      executor.enqueue {
        channel.writeAndFlush(ByteBuffer(string: "x"), promise: nil)
        chain(1, on: executor, witness)
      }
      await eventually("all are called") { witness.seen.count == 21 }
      let seen = witness.seen
      #expect(seen.filter { $0 != "socket" } == (1...20).map { "\($0)" })
      #expect(seen.prefix(3).contains("socket"))
    }
  }

  @Test("jobs that are ready when the loop ends are run")
  func ending() async throws {
    try await withExecutor(jobsThatTake: .milliseconds(5)) { executor, group in
      let witness = Witness(executor)
      let tasks = await witness.begin(20) { group.shutdownGracefully { _ in } }
      for task in tasks { await task.value }
      #expect(witness.seen == (1...20).map { "\($0)" })
    }
  }

  @Test(
    "each job runs once and in order, from any task",
    arguments: [Duration.microseconds(10), .milliseconds(3), .milliseconds(5)])
  func all(step: Duration) async throws {
    try await withExecutor(jobsThatTake: step) { executor, _ in
      let witness = Witness(executor)
      await withTaskGroup(of: Void.self) { group in
        for worker in 0..<8 {
          group.addTask {
            for number in 0..<100 { await witness.see("\(worker) \(number)") }
          }
        }
      }
      let seen = witness.seen
      #expect(seen.count == 800)
      for worker in 0..<8 {
        let mine = seen.filter { $0.hasPrefix("\(worker) ") }
        #expect(mine == (0..<100).map { "\(worker) \($0)" })
      }
    }
  }

  @Test("nothing runs on a loop after the executor has ended")
  func ending() throws {
    let loop = EmbeddedEventLoop()
    let executor = LoopExecutor(loop)
    let seen = Record<String>()
    executor.execute { seen.add("before") }
    loop.run()
    executor.end()
    executor.execute { seen.add("after") }
    loop.run()
    #expect(seen.all == ["before"])
  }
}
