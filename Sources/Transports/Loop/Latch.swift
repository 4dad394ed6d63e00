// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// Something that happens once, and that anybody can wait for.
public final class Latch: Sendable {
  private struct State {
    var hasHappened = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Lock(State())

  /// Something that has not happened yet.
  public init() {}

  /// The end of some work, which goes on even where nobody waits for it any more.
  init(endOf work: @escaping @Sendable () async -> Void) {
    // because it must not be waited for longer than its owner wants to, as a child task would be.
    Task {
      await work()
      self.happen()
    }
  }

  /// It has happened; once more is no more.
  public func happen() {
    let waiting = state.withLock { state in
      state.hasHappened = true
      var waiting: [@Sendable () -> Void] = []
      swap(&waiting, &state.waiting)
      return waiting
    }
    for body in waiting { body() }
  }

  /// Calls `body` when it happens, or now if it has.
  func whenHappened(_ body: @escaping @Sendable () -> Void) {
    let hasHappened = state.withLock { state in
      if !state.hasHappened { state.waiting.append(body) }
      return state.hasHappened
    }
    if hasHappened { body() }
  }

  /// Waits until it has happened.
  public func wait() async {
    await withUnsafeContinuation { continuation in
      whenHappened { continuation.resume() }
    }
  }
}
