// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import StateMachines

/// The way to standard error, which leaves lines out while no process reads them. A frontend that starts
/// the server may never read its log, and the server must continue.
final class StandardErrorGate: Sendable {
  /// The gate of the process.
  static let shared = StandardErrorGate()

  private struct State {
    /// The number of lines that were left out since the last one that was written.
    var leftOut = 0
    /// The time from which a line waits for the reader.
    var mayWait = ContinuousClock.now
  }

  private let descriptor: CInt
  private let state = Lock(State())

  /// Creates a gate of a descriptor.
  init(_ descriptor: CInt = STDERR_FILENO) { self.descriptor = descriptor }

  /// Waits until a line can be written: at most a second, and at most once a minute.
  ///
  /// - Returns: The number of lines that were left out before this one; nil if this one must be left out,
  ///   too.
  func pass() -> Int? {
    state.withLock { state in
      var isOpen = isWritable(within: 0)
      if !isOpen, state.mayWait <= .now {
        isOpen = isWritable(within: Self.patience)
        state.mayWait = .now + Self.timeBetweenWaits
      }
      guard isOpen else {
        state.leftOut += 1
        return nil
      }
      defer { state.leftOut = 0 }
      return state.leftOut
    }
  }

  /// True also if a write would fail, because it does not wait then either.
  private func isWritable(within milliseconds: CInt) -> Bool {
    var item = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&item, 1, milliseconds) != 0
  }

  // Milliseconds; as long as a reader on a busy machine may pause.
  private static let patience: CInt = 1_000
  private static let timeBetweenWaits = Duration.seconds(60)
}
