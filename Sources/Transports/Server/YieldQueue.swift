// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Lets the event loop hear its sockets before a connection goes on, or a shard with its jobs.
///
/// Between two looks at the sockets the jobs continue, and for `slice` the connections that have waited for longest. So
/// a client that asks for little waits for a few milliseconds of others' work, however many ask for much.
///
/// It tells itself by a byte in a pipe, which it finds among all else that has come meanwhile. A task would not
/// do: the loop carries out all that are due, those too that become due while it does, before it looks at
/// its sockets again.
final class YieldQueue: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let writeEnd: CInt
  private let now: @Sendable () -> ContinuousClock.Instant
  private var waiting: [() -> Duration] = []
  /// How many of them have been served since the last look at the sockets.
  private var served = 0
  private var jobs: (() -> Void)?
  private var isSignalled = false
  /// Whether the loop ends, and hears nobody any more.
  private(set) var isOver = false

  /// - Parameters:
  ///   - writeEnd: That of the pipe, which is closed with this.
  ///   - now: The time by which it is seen how long others wait.
  init(
    _ writeEnd: CInt, _ now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.writeEnd = writeEnd
    self.now = now
  }

  deinit { Glibc.close(writeEnd) }

  /// Begins for the connections of a registry and the jobs of an executor; it ends with the loop.
  /// - Throws: `StartupError`, or what SwiftNIO throws.
  static func begin(
    on loop: any EventLoop, for registry: NIOLoopBoundBox<ConnectionRegistry>,
    _ executor: LoopExecutor
  ) async throws {
    let pipe = try LoopPipe()
    let channel: any Channel
    do {
      channel = try await NIOPipeBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(YieldQueue(pipe.writeEnd))
          }
        }
        .takingOwnershipOfDescriptor(input: pipe.readEnd).get()
    } catch {
      Glibc.close(pipe.readEnd)
      throw error
    }
    // Not before: nobody waits for a pipe that could not be had.
    try await loop.submit {
      let queue = try channel.pipeline.syncOperations.handler(type: YieldQueue.self)
      registry.value.yieldQueue = queue
      executor.yield(to: queue)
    }.get()
  }

  /// True if no connection waits.
  var isEmpty: Bool { waiting.count == served }

  /// Continues a connection once others have been heard, and not at all where the loop ends; on the loop only.
  ///
  /// - Parameter goOn: Returns how long the turn is expected to take that it makes the loop do later.
  func wait(_ goOn: @escaping () -> Duration) {
    guard !isOver else { return }
    waiting.append(goOn)
    signal()
  }

  /// Continues jobs, which can be of any client, ahead of connections.
  func waitAhead(_ goOn: @escaping () -> Void) {
    guard !isOver else { return }
    jobs = goOn
    signal()
  }

  private func signal() {
    // One byte for all: there is never more than one in the pipe.
    guard !isSignalled else { return }
    isSignalled = true
    var byte: UInt8 = 0
    Glibc.write(writeEnd, &byte, 1)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { goOn() }

  /// The loop ends: those that wait go on for the last time.
  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    goOn()
  }

  /// The loop has heard its sockets: continues some of those that wait.
  func goOn() {
    isSignalled = false
    let count = waiting.count
    if let jobs {
      self.jobs = nil
      jobs()
    }
    let end = now() + Self.slice
    var expected = Duration.zero
    while served < count, isOver || served == 0 || now() + expected < end {
      served += 1
      expected += waiting[served - 1]()
    }
    // Those that have come meanwhile are after the rest.
    waiting.removeFirst(served)
    served = 0
    if !waiting.isEmpty { signal() }
  }

  private static let slice = Duration.milliseconds(2)
}
