// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOCore
internal import NIOPosix

/// Standard input and output as one channel.
///
/// Pipes and sockets can be polled and go to the event loop as they are. Regular files cannot, and
/// terminals are shared with others who would be surprised to find them non-blocking; between those
/// and the loop stands a pair of pipes that threads fill and empty.
enum StandardStreams {
  /// Serves both.
  /// - Parameters:
  ///   - loop: Where they are served.
  ///   - receive: Gives the channel its handlers.
  /// - Returns: When the channel has closed and everything written has gone out.
  static func serve(
    on loop: any EventLoop, receive: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws -> EventLoopFuture<Void> {
    // A peer that stops reading must give an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    // Pipes are shared with whoever else holds them; what the loop makes of them is put back.
    let flags = [STDIN_FILENO, STDOUT_FILENO].map { SharedFlags(of: $0) }
    var pumped: [EventLoopFuture<Void>] = []
    var input = STDIN_FILENO
    var output = STDOUT_FILENO
    if !canBePolled(STDIN_FILENO) {
      let (readEnd, writeEnd) = try makePipe()
      _ = DescriptorPump.begin(from: STDIN_FILENO, to: writeEnd, on: loop)
      input = readEnd
    }
    if !canBePolled(STDOUT_FILENO) {
      let (readEnd, writeEnd) = try makePipe()
      pumped.append(DescriptorPump.begin(from: readEnd, to: STDOUT_FILENO, on: loop))
      output = writeEnd
    }
    let channel: any Channel
    do {
      channel = try await NIOPipeBootstrap(group: loop)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .channelInitializer(receive)
        .takingOwnershipOfDescriptors(input: input, output: output).get()
    } catch {
      throw StartupError("standard input and output cannot be served: \(error)", cause: error)
    }
    return EventLoopFuture.andAllComplete([channel.closeFuture] + pumped, on: loop)
      .always { _ in for flags in flags { flags.restore() } }
  }

  private static func canBePolled(_ descriptor: CInt) -> Bool {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    let kind = status.st_mode & S_IFMT
    return kind == S_IFIFO || kind == S_IFSOCK
  }

  private static func makePipe() throws -> (readEnd: CInt, writeEnd: CInt) {
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else {
      throw StartupError("no pipe could be made: \(String(cString: strerror(errno)))")
    }
    return (ends[0], ends[1])
  }
}

/// The flags of an open file, which all its descriptors share, in this and in other processes.
private struct SharedFlags: Sendable {
  private let descriptor: CInt
  private let flags: CInt

  init(of original: CInt) {
    descriptor = dup(original)
    flags = fcntl(original, F_GETFL)
  }

  func restore() {
    guard descriptor >= 0 else { return }
    if flags >= 0 { _ = fcntl(descriptor, F_SETFL, flags) }
    close(descriptor)
  }
}
