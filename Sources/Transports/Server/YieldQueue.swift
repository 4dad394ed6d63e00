// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Lets the event loop hear its sockets before a connection goes on, or a shard with its jobs.
///
/// Between two looks at the sockets go on the jobs and the connections that have waited for longest, for `slice`: so
/// whoever asks for little waits for a few milliseconds of others' work, however many ask for much.
///
/// It tells itself by a byte in a pipe, which it finds among all else that has come meanwhile. A task would not
/// do: the loop carries out all that are due, those too that become due while it does, before it looks at
/// its sockets again.
final class YieldQueue: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let writeEnd: CInt
  private let now: @Sendable () -> ContinuousClock.Instant
  private var waiting: [() -> Void] = []
  private var jobs: (() -> Void)?
  private var isSignalled = false
  /// Whether the loop ends, and hears nobody any more.
  private(set) var isOver = false

  /// - Parameters:
  ///   - writeEnd: That of the pipe, which is closed with this.
  ///   - now: The time by which it is seen how long others wait.
  init(_ writeEnd: CInt, _ now: @escaping @Sendable () -> ContinuousClock.Instant) {
    self.writeEnd = writeEnd
    self.now = now
  }

  deinit { Glibc.close(writeEnd) }

  /// Begins for the connections of a registry and the jobs of an executor; it ends with the loop.
  /// - Throws: `StartupError`, or what SwiftNIO throws.
  static func begin(
    on loop: any EventLoop, for registry: NIOLoopBoundBox<ConnectionRegistry>,
    _ executor: LoopExecutor, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) async throws {
    let pipe = try LoopPipe()
    let channel: any Channel
    do {
      channel = try await NIOPipeBootstrap(group: loop)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(YieldQueue(pipe.writeEnd, now))
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

  /// Whether no connection waits.
  var isEmpty: Bool { waiting.isEmpty }

  /// Goes on once others have been heard, and not at all where the loop ends; on the loop only.
  func wait(_ goOn: @escaping () -> Void) {
    guard !isOver else { return }
    waiting.append(goOn)
    signal()
  }

  /// Goes on with jobs, which are of everybody, ahead of connections.
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

  /// The loop has heard its sockets: goes on with some of those that wait.
  func goOn() {
    isSignalled = false
    let ready = waiting
    waiting = []
    if let jobs {
      self.jobs = nil
      jobs()
    }
    let start = now()
    var next = 0
    while next < ready.count, isOver || next == 0 || now() - start < Self.slice {
      ready[next]()
      next += 1
    }
    guard next < ready.count else { return }
    // Those that have come meanwhile are behind the rest.
    waiting.insert(contentsOf: ready[next...], at: 0)
    signal()
  }

  private static let slice = Duration.milliseconds(2)
}
