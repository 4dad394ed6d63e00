// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import Synchronization

/// Work of a server under test that runs on other threads and must end before the server is idle,
/// for example the work of a database.
public final class OutsideWork: Sendable {
  private let running = Atomic(0)
  private let ended = Lock(Callback())

  /// Creates a tracker without work.
  public init() {}

  /// Counts work that begins.
  ///
  /// - Returns: A closure that ends the count of the work, to be called once on any thread.
  @Sendable
  public func begin() -> @Sendable () -> Void {
    running.add(1, ordering: .sequentiallyConsistent)
    return {
      if self.running.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
        self.ended.withLock { $0.call }?()
      }
    }
  }

  /// True while some work has not ended.
  var isRunning: Bool { running.load(ordering: .sequentiallyConsistent) > 0 }

  /// Calls `body` each time the last work has ended.
  func whenEnded(_ body: @escaping @Sendable () -> Void) { ended.withLock { $0.call = body } }
}

/// A closure in a struct. A closure that is read directly from generic storage is wrapped in
/// another closure at each read.
struct Callback: Sendable {
  var call: (@Sendable () -> Void)?
}
