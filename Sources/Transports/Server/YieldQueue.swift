// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Lets the event loop hear its sockets before a connection goes on, or a shard with its jobs.
///
/// It tells itself by a byte in a pipe, which it finds among all else that has come meanwhile. A task would not
/// do: the loop carries out all that are due, those too that become due while it does, before it looks at
/// its sockets again.
final class YieldQueue: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let writeEnd: CInt
  private var waiting: [() -> Void] = []
  /// Whether the loop ends, and hears nobody any more.
  private(set) var isOver = false

  private init(_ writeEnd: CInt) { self.writeEnd = writeEnd }

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

  /// Goes on once others have been heard, and not at all where the loop ends; on the loop only.
  func wait(_ goOn: @escaping () -> Void) {
    guard !isOver else { return }
    waiting.append(goOn)
    // One byte for all: there is never more than one in the pipe.
    guard waiting.count == 1 else { return }
    var byte: UInt8 = 0
    Glibc.write(writeEnd, &byte, 1)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { goOn() }

  /// The loop ends: those that wait go on for the last time.
  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    goOn()
  }

  private func goOn() {
    let ready = waiting
    waiting = []
    for goOn in ready { goOn() }
  }
}
