// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

#if canImport(Glibc)
  @preconcurrency import Glibc
#elseif canImport(Musl)
  @preconcurrency import Musl
#else
  @preconcurrency import Darwin
#endif

/// A relay between the standard input and output of this process and a program that it starts.
///
/// Both directions use blocking system calls on threads of their own, because standard input may be
/// a file, which event loops cannot wait for.
public struct StandardRelay: Sendable {
  private let command: [String]
  private let tap: any RelayTap
  /// The time in which a program ends its output, and then ends.
  private static let patience = TimeAmount.seconds(3)

  /// Creates a relay.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments; a name without `/` is looked up in `PATH`.
  ///   - tap: Receives copies of the bytes.
  public init(to command: [String], tap: any RelayTap) {
    self.command = command
    self.tap = tap
  }

  /// Starts the program and relays until it has ended its output; ends it if the task is cancelled.
  ///
  /// - Returns: The exit code of the program; 128 and the signal if one has ended it.
  /// - Throws: `ClientError.notStarted`.
  public func run() async throws -> Int32 {
    signal(SIGPIPE, SIG_IGN)
    let (child, streams) = try await ChildProcess.start(command, collectsErrors: false)
    let pool = NIOThreadPool(numberOfThreads: 2)
    pool.start()
    let (tap, connection) = (tap, tap.opened())
    // Not awaited: the client may send nothing more, and a blocking read cannot be cancelled.
    pool.submit { _ in
      Self.pass(STDIN_FILENO, .client, to: streams.input, tap, connection)
      closeDescriptor(streams.input)
    }
    let passed = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    pool.submit { _ in
      Self.pass(streams.output, .server, to: STDOUT_FILENO, tap, connection)
      closeDescriptor(streams.output)
      passed.succeed()
    }
    await withTaskCancellationHandler {
      try? await passed.futureResult.get()
    } onCancel: {
      kill(child.id, SIGTERM)
      // A program that does not end its output, and a client that does not read it, are not awaited.
      passed.futureResult.eventLoop.scheduleTask(in: Self.patience) { passed.succeed() }
    }
    // The client sees the end of the output while the program still ends.
    let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
    dup2(null, STDOUT_FILENO)
    closeDescriptor(null)
    let status = await child.end(patience: Duration(Self.patience))
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
  }

  /// Passes bytes on until their end. A receiver that has closed ends the direction.
  private static func pass(
    _ source: CInt, _ side: RelaySide, to target: CInt, _ tap: any RelayTap, _ connection: Int
  ) {
    withUnsafeTemporaryAllocation(byteCount: 64 << 10, alignment: 8) { buffer in
      while true {
        let count = read(source, buffer.baseAddress, buffer.count)
        if count < 0, errno == EINTR || isReady(source, POLLIN) { continue }
        guard count > 0 else { break }
        let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        tap.received(bytes, from: side, on: connection)
        guard writeAll(bytes, to: target) else { break }
      }
    }
    tap.ended(side, of: connection, isAbrupt: false)
  }

  private static func writeAll(_ bytes: UnsafeRawBufferPointer, to target: CInt) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = write(target, rest.baseAddress, rest.count)
      if count < 0, errno == EINTR || isReady(target, POLLOUT) { continue }
      guard count > 0 else { return false }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
    return true
  }

  /// Waits if a call has failed only because the descriptor, which another process may have made
  /// non-blocking, was not ready.
  private static func isReady(_ descriptor: CInt, _ events: CInt) -> Bool {
    guard errno == EAGAIN else { return false }
    var wait = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    return poll(&wait, 1, -1) > 0 || errno == EINTR
  }
}
