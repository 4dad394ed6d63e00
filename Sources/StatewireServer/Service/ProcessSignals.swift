// SPDX-License-Identifier: Apache-2.0

internal import Glibc
public import Transports

/// A handler of signals that would otherwise end the process.
///
/// A process has at most one at a time.
public final class ProcessSignals: Sendable {
  private let numbers: [CInt]
  /// The loop of this object; nil: the loop belongs to the caller.
  private let loop: PollLoop?

  /// Starts to handle signals.
  ///
  /// - Parameters:
  ///   - numbers: The signals.
  ///   - body: Called with the number of each signal, on a thread of this object.
  /// - Throws: `StartupError`; the signals keep their previous effect then.
  public convenience init(
    _ numbers: [CInt], _ body: @escaping @Sendable (CInt) -> Void
  ) throws(StartupError) {
    try self.init(numbers, on: nil, body)
  }

  /// Starts to handle signals, on a given loop or on a new thread.
  ///
  /// - Parameters:
  ///   - numbers: The signals.
  ///   - given: The loop of the calling thread; nil: a thread is started.
  ///   - body: Called with the number of each signal.
  /// - Throws: `StartupError`; the signals keep their previous effect then.
  init(
    _ numbers: [CInt], on given: PollLoop?, _ body: @escaping @Sendable (CInt) -> Void
  ) throws(StartupError) {
    self.numbers = numbers
    if let given {
      loop = nil
      try given.watch(signals: numbers, body)
      return
    }
    let own = try PollLoop()
    loop = own
    try own.watch(signals: numbers, body)
    try SystemThread.start { own.run() }
  }

  /// Restores the default effect of the signals, if this object has its own thread. Otherwise it
  /// does nothing, because a process whose main thread watches signals is about to end.
  public func end() {
    guard let loop else { return }
    for number in numbers { signal(number, SIG_DFL) }
    loop.stop()
  }

  /// True if the process ignores a signal, as under `nohup`.
  public static func isIgnored(_ number: CInt) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
