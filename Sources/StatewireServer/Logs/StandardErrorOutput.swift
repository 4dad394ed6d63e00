// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import StateMachines

/// The lines of the log on standard error. Lines are left out while no process reads them: a frontend that
/// starts the server may never read its log, and the server must continue.
final class StandardErrorOutput: Sendable {
  /// The output of the process.
  static let shared = StandardErrorOutput()

  private struct State {
    /// The number of lines that were left out and not reported.
    var leftOut = 0
    /// True if the last line is incomplete.
    var isCut = false
    /// The time from which a line waits for the reader.
    var mayWait = ContinuousClock.now
  }

  private let descriptor: CInt
  private let state = Lock(State())

  /// Creates the output of a descriptor.
  init(_ descriptor: CInt = STDERR_FILENO) { self.descriptor = descriptor }

  /// Returns the number of lines that were left out and not reported, if a line can be written now.
  func takeLeftOut() -> Int {
    state.withLock { state in
      guard state.leftOut > 0, isWritable(until: .now) else { return 0 }
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }

  /// Writes a line with its end, or leaves it out. Lines of several threads do not mix.
  func write(_ line: some Collection<UInt8>) {
    state.withLock { state in
      var rest = (state.isCut ? [UInt8(ascii: "\n")] : []) + line
      state.isCut = false
      let length = rest.count
      while !rest.isEmpty {
        guard wait(&state) else {
          state.leftOut += 1
          state.isCut = rest.count < length
          return
        }
        // A pipe that is writable takes at least so many bytes.
        let count = rest.withUnsafeBytes {
          Glibc.write(descriptor, $0.baseAddress, min($0.count, Int(PIPE_BUF)))
        }
        if count > 0 {
          rest.removeFirst(count)
        } else if errno != EINTR, errno != EAGAIN {
          return
        }
      }
    }
  }

  /// Waits for the reader, unless a wait has failed within the last minute.
  ///
  /// - Returns: True if bytes can be written.
  private func wait(_ state: inout State) -> Bool {
    let now = ContinuousClock.now
    let mayWait = state.mayWait <= now
    let isReady = isWritable(until: mayWait ? now + Self.patience : now)
    if !isReady, mayWait { state.mayWait = now + Self.timeBetweenWaits }
    return isReady
  }

  /// True also if a write would fail, because it does not wait then either.
  private func isWritable(until end: ContinuousClock.Instant) -> Bool {
    while true {
      let rest = max(.zero, end - .now) / .milliseconds(1)
      var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      let count = poll(&item, 1, CInt(rest.rounded(.up)))
      if count >= 0 || errno != EINTR { return count != 0 }
    }
  }

  // As long as a reader on a busy machine may pause.
  private static let patience = Duration.seconds(1)
  private static let timeBetweenWaits = Duration.seconds(60)
}

/// The stream of the lines for people.
struct StandardErrorStream: TextOutputStream, Sendable {
  let output: StandardErrorOutput

  func write(_ text: String) { output.write(text.utf8) }
}
