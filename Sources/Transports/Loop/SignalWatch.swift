// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

extension PollLoop {
  /// Tells this loop of signals that would end the process otherwise; one loop of a process only, and
  /// before it runs.
  ///
  /// - Parameters:
  ///   - signals: Their numbers.
  ///   - body: Called on the loop's thread with each that has come.
  /// - Throws: `StartupError`; the signals do what they did before, then.
  public func watch(
    signals: [CInt], _ body: @escaping (CInt) -> Void
  ) throws(StartupError) {
    let pipe = try LoopPipe()
    let readEnd = pipe.readEnd
    watch(readEnd) { _ in
      var number: UInt8 = 0
      while read(readEnd, &number, 1) == 1 { body(CInt(number)) }
    }
    want(POLLIN, of: readEnd)
    self.signals = pipe
    signalPipe.store(pipe.writeEnd, ordering: .sequentiallyConsistent)
    // Whoever has started this program may have blocked them for itself, which its children inherit.
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for number in signals {
      signal(number, tell(of:))
      sigaddset(&blocked, number)
    }
    pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
  }

  /// Closes the pipe of the signals, whose handlers must be gone by then.
  func closeSignals() {
    guard let signals else { return }
    _ = signalPipe.compareExchange(
      expected: signals.writeEnd, desired: -1, ordering: .sequentiallyConsistent)
    close(signals.readEnd)
    close(signals.writeEnd)
    self.signals = nil
  }
}

/// Where signals are told of; a handler has nothing but what is global.
private let signalPipe = Atomic<CInt>(-1)

/// Only what may be done at any moment of any thread.
private func tell(of number: CInt) {
  let error = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(signalPipe.load(ordering: .relaxed), &byte, 1)
  errno = error
}
