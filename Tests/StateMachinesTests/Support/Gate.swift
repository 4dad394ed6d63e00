// SPDX-License-Identifier: Apache-2.0

@testable import StateMachines

/// Something that work waits for and a test opens; deaf to cancellation, as real work often is.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  /// How many wait.
  var waiting: Int { state.withLock { $0.waiting.count } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A list that several tasks append to.
final class Record<Element: Sendable>: Sendable {
  private let state = Lock<[Element]>([])

  var all: [Element] { state.withLock { $0 } }
  var count: Int { state.withLock { $0.count } }

  func add(_ element: Element) { state.withLock { $0.append(element) } }

  func removeAll() { state.withLock { $0.removeAll() } }
}
