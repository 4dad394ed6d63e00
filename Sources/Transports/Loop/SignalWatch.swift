// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

extension PollLoop {
  /// Calls `body` for signals that would otherwise end the process. Only one loop of a process can
  /// do this, and it must be called before the loop runs.
  ///
  /// - Parameters:
  ///   - signals: The numbers of the signals.
  ///   - body: Called on the loop's thread with the number of each signal that arrives.
  /// - Throws: `StartupError` if there is no descriptor for a pipe; the signals keep their previous
  ///   effect then.
  public func watch(
    signals: [CInt], _ body: @escaping (CInt) -> Void
  ) throws(StartupError) {
    let pipe = try LoopPipe()
    let readEnd = pipe.readEnd
    watch(readEnd) { _ in
      var number: UInt8 = 0
      while read(readEnd, &number, 1) == 1 { body(CInt(number)) }
    }
    setEvents(POLLIN, of: readEnd)
    self.signals = pipe
    signalPipe.store(pipe.writeEnd, ordering: .sequentiallyConsistent)
    // The parent process may have blocked the signals for itself, and children inherit that.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for number in signals {
      signal(number, handleSignal(_:))
      sigaddset(&blocked, number)
    }
    pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
  }

  /// Closes the pipe of the signals. Their handlers must have been removed before.
  func closeSignals() {
    guard let signals else { return }
    _ = signalPipe.compareExchange(
      expected: signals.writeEnd, desired: -1, ordering: .sequentiallyConsistent)
    close(signals.readEnd)
    close(signals.writeEnd)
    self.signals = nil
  }
}

/// The write end of the pipe of the signals. Global, because a signal handler has no context.
private let signalPipe = Atomic<CInt>(-1)

/// The signal handler. It only makes calls that are async-signal-safe.
private func handleSignal(_ number: CInt) {
  let error = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(signalPipe.load(ordering: .relaxed), &byte, 1)
  errno = error
}
