// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Transports

/// The signals of a server: those that end it, and SIGHUP, at which it reads its files again.
struct ServerSignals: Sendable {
  /// The requests to read the files again since this object was created. Several that have not been carried
  /// out are one.
  let reloads: AsyncStream<Void>
  private let signals: ProcessSignals?

  /// Prepares the program of a server for signals before anything is started.
  ///
  /// - SIGTERM and SIGINT end the process immediately with 0 until they are handled: nothing is left then.
  ///   Without this, the first process of a container would ignore them.
  /// - SIGHUP waits until it is known whether it reloads files.
  /// - SIGPIPE has no effect: a log that nothing reads must not end the server.
  ///
  /// Called before there are other threads, because each of them has to block SIGHUP.
  static func begin() {
    hasBegun.raise()
    endProcess(at: [SIGTERM, SIGINT])
    signal(SIGPIPE, SIG_IGN)
    setMask(SIG_BLOCK, [SIGHUP])
  }

  /// Raised by `begin`: all threads block SIGHUP.
  private static let hasBegun = AtomicFlag()

  /// Lets SIGHUP wait until it reloads files, or end the process as SIGTERM does. In a process that has not
  /// called `begin`, it cannot wait: a reload is ignored.
  static func prepare(for configuration: ServerConfiguration) {
    guard configuration.handlesSignals else { return }
    if configuration.canBeReloaded {
      if !hasBegun.isRaised { signal(SIGHUP, SIG_IGN) }
    } else if hasBegun.isRaised, !ProcessSignals.isIgnored(SIGHUP) {
      endProcess(at: [SIGHUP])
    }
  }

  private static func endProcess(at numbers: [CInt]) {
    for number in numbers { signal(number) { _ in _exit(0) } }
    // The parent process may have blocked them for itself.
    setMask(SIG_UNBLOCK, numbers)
  }

  private static func setMask(_ change: CInt, _ numbers: [CInt]) {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(change, &signals, nil)
  }

  /// Starts to handle signals, if the configuration says so.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the server.
  ///   - loop: The loop of the calling thread; nil: a thread is started.
  ///   - ending: Signalled when the server is to end.
  /// - Throws: `StartupError`.
  init(
    _ configuration: ServerConfiguration, on loop: PollLoop?, ending: Latch
  ) throws(StartupError) {
    let (reloads, reload) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.reloads = reloads
    guard configuration.handlesSignals else {
      signals = nil
      return
    }
    let canBeReloaded = configuration.canBeReloaded
    // The end of the terminal ends the server, too, unless it was started with `nohup`.
    let handlesHangup = canBeReloaded || !ProcessSignals.isIgnored(SIGHUP)
    signals = try ProcessSignals([SIGTERM, SIGINT] + (handlesHangup ? [SIGHUP] : []), on: loop) {
      number in
      if number == SIGHUP, canBeReloaded { reload.yield() } else { ending.signal() }
    }
  }

  /// Restores the default effect of the signals, as `ProcessSignals.end`.
  func end() { signals?.end() }
}

extension ServerConfiguration {
  /// True if the server has files that it reads again at SIGHUP, or a service manager, which asks each of
  /// its services to reload, also one that has nothing to reload.
  fileprivate var canBeReloaded: Bool {
    tokenFile != nil || adminTokenFile != nil || certificate != nil || reload != nil
      || ServiceManager() != nil
  }
}
