// SPDX-License-Identifier: Apache-2.0

import StateMachines

/// A list that work takes from and adds to.
final class Answers<Element: Sendable>: Sendable {
  private let state: Lock<[Element]>

  init(_ elements: [Element]) { state = Lock(elements) }

  var all: [Element] { state.withLock { $0 } }

  /// Takes the first.
  func next() -> Element { state.withLock { $0.removeFirst() } }

  func add(_ element: Element) { state.withLock { $0.append(element) } }
}
