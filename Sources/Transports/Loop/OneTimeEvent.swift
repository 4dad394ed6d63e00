// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// Something that happens once, and that anybody can wait for.
final class OneTimeEvent: Sendable {
  private struct State {
    var hasHappened = false
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Lock(State())

  /// It has happened; once more is no more.
  func happen() {
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
  func wait() async {
    await withUnsafeContinuation { continuation in
      whenHappened { continuation.resume() }
    }
  }
}
