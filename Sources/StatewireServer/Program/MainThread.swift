// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import Transports

/// The main thread of a `ServerProgram`; it runs one loop from start to end.
enum MainThread {
  static let loop = Result { () throws(StartupError) in try PollLoop() }

  private static let isRunning = Atomic(false)

  /// The loop that the main thread runs; nil in a program with its own `main`.
  static var current: PollLoop? { isRunning.load(ordering: .acquiring) ? try? loop.get() : nil }

  /// Runs `loop` until `work` has ended.
  static func run(_ loop: PollLoop, until work: @escaping @Sendable () async -> Void) {
    isRunning.store(true, ordering: .releasing)
    loop.run(until: work)
  }
}
