// SPDX-License-Identifier: Apache-2.0

/// A gate at which work waits until a test opens it. The wait ignores cancellation, as real work
/// often does.
public final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Watched(State())

  public init() {}

  /// The number of waiting tasks.
  public var waiting: Int { state.withLock { $0.waiting.count } }

  public func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  public func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Returns when at least `count` tasks wait.
  ///
  /// - Throws: `CancellationError` when the time limit of the test is over.
  public func holds(_ count: Int) async throws {
    try await state.until { $0.waiting.count >= count }
  }
}
