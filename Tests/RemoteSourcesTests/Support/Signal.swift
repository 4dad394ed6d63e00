// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// Something that one side of a test waits for and the other makes happen, any number of times.
struct Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream<Void>.makeStream() }

  func fire() { continuation.yield() }

  /// Waits for one `fire`, past or to come.
  func wait() async {
    for await _ in stream { return }
  }
}

/// A list that several tasks add to.
final class Record<Element: Sendable>: Sendable {
  private let state = Lock<[Element]>([])

  var all: [Element] { state.withLock { $0 } }

  func add(_ element: Element) { state.withLock { $0.append(element) } }
}
