// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import Synchronization

/// Work of a server under test that goes on outside of its thread and is waited for all the same: a
/// database's, say, which ends soon and by itself.
public final class OutsideWork: Sendable {
  private let running = Atomic(0)
  private let ended = Lock(Callback())

  public init() {}

  /// Some work begins.
  /// - Returns: What to call when it has ended, once and on any thread.
  @Sendable
  public func begin() -> @Sendable () -> Void {
    running.add(1, ordering: .sequentiallyConsistent)
    return {
      if self.running.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
        self.ended.withLock { $0.call }?()
      }
    }
  }

  var isGoingOn: Bool { running.load(ordering: .sequentiallyConsistent) > 0 }

  func whenEnded(_ body: @escaping @Sendable () -> Void) { ended.withLock { $0.call = body } }
}

/// Something to call. In a struct of its own: a closure that is read out of a generic place comes
/// back wrapped once more each time.
struct Callback: Sendable {
  var call: (@Sendable () -> Void)?
}
