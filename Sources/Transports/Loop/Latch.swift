// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// A one-shot signal that any number of tasks and callbacks can wait for.
public final class Latch: Sendable {
  private struct State {
    var isSignalled = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Lock(State())

  /// Creates a latch that has not been signalled.
  public init() {}

  /// Creates a latch that is signalled when `work` ends. The work continues even if nothing waits
  /// for the latch any more.
  init(endOf work: @escaping @Sendable () async -> Void) {
    // because a caller may stop waiting before the work ends, which a child task would not allow.
    Task {
      await work()
      self.signal()
    }
  }

  /// Signals the latch and runs what waits for it, on this thread. Further calls have no effect.
  public func signal() {
    let waiting = state.withLock { state in
      state.isSignalled = true
      var waiting: [@Sendable () -> Void] = []
      swap(&waiting, &state.waiting)
      return waiting
    }
    for body in waiting { body() }
  }

  /// True if the latch has been signalled.
  public var isSignalled: Bool { state.withLock { $0.isSignalled } }

  /// Calls `body` when the latch is signalled, or immediately if it already was.
  public func whenSignalled(_ body: @escaping @Sendable () -> Void) {
    let isSignalled = state.withLock { state in
      if !state.isSignalled { state.waiting.append(body) }
      return state.isSignalled
    }
    if isSignalled { body() }
  }

  /// Waits until the latch is signalled.
  public func wait() async {
    await withUnsafeContinuation { continuation in
      whenSignalled { continuation.resume() }
    }
  }
}
