// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

/// A queue in which connections and a shard's jobs wait until the event loop has read its sockets.
///
/// After each look at the sockets the jobs continue, then connections for `slice`, longest wait
/// first. So a client with few requests waits a few milliseconds for other clients, however
/// many clients send much work.
///
/// The queue wakes the loop by a byte in a socket, which the loop finds together with all other
/// events. A task would not work: the loop runs all tasks that are due, also those that become due
/// meanwhile, before it looks at its sockets again. A pipe would be a second type of channel, and
/// resolving its generic types takes a tenth of the time to the first response. For the same reason, the
/// loop reads the socket only from the first wait on.
final class YieldQueue: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let wakeSocket: CInt
  private let now: @Sendable () -> ContinuousClock.Instant
  private var waiting: [() -> Duration] = []
  /// Number of entries of `waiting` that were served since the last look at the sockets.
  private var served = 0
  private var jobs: (() -> Void)?
  private var isSignalled = false
  /// The socket that the loop is to read, and the loop; nil once it reads it.
  private var unread: (socket: CInt, loop: any EventLoop)?
  /// True once the loop ends and reads its sockets no more.
  private(set) var isOver = false

  /// - Parameters:
  ///   - wakeSocket: The socket that is connected to that of the channel; the queue closes it when it
  ///     is deallocated.
  ///   - now: The clock that measures the slices.
  init(
    _ wakeSocket: CInt, _ now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.wakeSocket = wakeSocket
    self.now = now
  }

  deinit {
    Glibc.close(wakeSocket)
    if let unread { Glibc.close(unread.socket) }
  }

  /// Creates the queue of a registry's connections and an executor's jobs; it ends with the loop.
  ///
  /// - Throws: `StartupError` if there is no descriptor left.
  static func begin(
    on loop: any EventLoop, for registry: NIOLoopBoundBox<ConnectionRegistry>,
    _ executor: LoopExecutor, prepare: @escaping @Sendable () -> Void = {}
  ) throws(StartupError) -> EventLoopFuture<Void> {
    let ends = try SocketPair()
    return loop.submit {
      let queue = YieldQueue(ends.other)
      queue.unread = (ends.one, loop)
      registry.value.yieldQueue = queue
      executor.yield(to: queue)
      prepare()
    }.flatMapErrorThrowing { error in
      // The loop has ended.
      for end in [ends.one, ends.other] { Glibc.close(end) }
      throw error
    }
  }

  /// Makes the loop read the socket.
  private func connect() {
    guard let (socket, loop) = unread else { return }
    unread = nil
    let queue = NIOLoopBound(self, eventLoop: loop)
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(queue.value)
        }
      }
      .withConnectedSocket(socket)
      .whenFailure { _ in
        // Not within the turn that waits.
        loop.execute { queue.value.end() }
      }
  }

  /// True if no connection waits.
  var isEmpty: Bool { waiting.count == served }

  /// Adds a connection, which continues after other clients were served; nothing happens if the
  /// loop ends. On the loop only.
  ///
  /// - Parameter resume: Continues the connection; returns the expected duration of the turn that it
  ///   causes later.
  func wait(_ resume: @escaping () -> Duration) {
    guard !isOver else { return }
    waiting.append(resume)
    signal()
  }

  /// Calls `body` after all that wait now have continued. On the loop only.
  func whenServed(_ body: @escaping () -> Void) {
    guard !isOver else { return body() }
    wait {
      body()
      return .zero
    }
  }

  /// Sets the jobs that continue next, before connections: they can be of any client. On the loop
  /// only.
  func waitBeforeConnections(_ resume: @escaping () -> Void) {
    guard !isOver else { return }
    jobs = resume
    signal()
  }

  private func signal() {
    // The socket never holds more than one byte.
    guard !isSignalled else { return }
    isSignalled = true
    var byte: UInt8 = 0
    Glibc.write(wakeSocket, &byte, 1)
    connect()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { resume() }

  func channelInactive(context: ChannelHandlerContext) { end() }

  /// Handles the end of the loop, or of a start without a channel: all that wait continue for the last
  /// time.
  private func end() {
    isOver = true
    resume()
  }

  /// Continues the jobs and some of the connections, after the loop has read its sockets.
  func resume() {
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
    // Entries that were added meanwhile stay after the rest.
    waiting.removeFirst(served)
    served = 0
    if !waiting.isEmpty { signal() }
  }

  private static let slice = Duration.milliseconds(2)
}
