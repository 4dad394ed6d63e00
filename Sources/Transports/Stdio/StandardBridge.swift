// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import TransportSupport

/// Connects standard input and output to one more socket of a server that also listens on
/// addresses.
enum StandardBridge {
  /// Starts serving standard input and output.
  ///
  /// - Parameters:
  ///   - loop: The event loop that serves the socket.
  ///   - outputFailed: Called with the reason, on any thread, if bytes of the output are lost.
  ///   - receive: Adds the channel's handlers.
  /// - Returns: A latch that is signalled when all output was written.
  /// - Throws: `StartupError`.
  static func begin(
    on loop: any EventLoop, outputFailed: @escaping @Sendable (String) -> Void,
    receive: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> Latch {
    signal(SIGPIPE, SIG_IGN)
    let ends = try SocketPair()
    // The loop makes the channel while the threads of the copies start.
    let channel = ClientBootstrap(group: loop)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelInitializer(receive)
      .withConnectedSocket(ends.other)
    try DescriptorPump.begin(from: duplicate(STDIN_FILENO), to: duplicate(ends.one))
    let written = Latch()
    try DescriptorPump.begin(from: ends.one, to: duplicate(STDOUT_FILENO)) { failure in
      if let failure { outputFailed(systemMessage(failure)) }
      // The client sees the end of the output although the server continues for other clients.
      let null = open("/dev/null", O_RDWR | O_CLOEXEC)
      dup2(null, STDOUT_FILENO)
      close(null)
      written.signal()
    }
    do {
      _ = try await channel.get()
    } catch {
      throw StartupError("cannot serve standard input and output: \(error)", cause: error)
    }
    return written
  }
}
