// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix
internal import TransportSupport

/// Standard input and output as one more socket of a server that listens on others.
enum StandardBridge {
  /// Serves both.
  ///
  /// - Parameters:
  ///   - loop: Where they are served.
  ///   - outputFailed: Told why if something that was written is lost, on any thread.
  ///   - receive: Gives the channel its handlers.
  /// - Returns: That everything written has gone out.
  /// - Throws: `StartupError`.
  static func begin(
    on loop: any EventLoop, outputFailed: @escaping @Sendable (String) -> Void,
    receive: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> Latch {
    signal(SIGPIPE, SIG_IGN)
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    else {
      throw StartupError("no pair of sockets could be made: \(systemMessage(errno))")
    }
    try DescriptorPump.begin(from: duplicate(STDIN_FILENO), to: duplicate(ends[0]))
    let written = Latch()
    try DescriptorPump.begin(from: ends[0], to: duplicate(STDOUT_FILENO)) { failure in
      if let failure { outputFailed(systemMessage(failure)) }
      // The client sees the end, though the server goes on for others.
      let null = open("/dev/null", O_RDWR | O_CLOEXEC)
      dup2(null, STDOUT_FILENO)
      close(null)
      written.happen()
    }
    do {
      _ = try await ClientBootstrap(group: loop)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .channelInitializer(receive)
        .withConnectedSocket(ends[1]).get()
    } catch {
      throw StartupError("standard input and output cannot be served: \(error)", cause: error)
    }
    return written
  }
}
