// SPDX-License-Identifier: Apache-2.0

/// A list for several tasks. A test can wait until it has a number of elements.
public final class Record<Element: Sendable>: Sendable {
  private let elements: Watched<[Element]>

  public init(_ elements: [Element] = []) { self.elements = Watched(elements) }

  public var all: [Element] { elements.withLock { $0 } }
  public var count: Int { elements.withLock { $0.count } }

  @Sendable
  public func add(_ element: Element) { elements.withLock { $0.append(element) } }

  /// Removes and returns the first element.
  public func next() -> Element { elements.withLock { $0.removeFirst() } }

  /// Removes and returns all elements.
  @discardableResult
  public func removeAll() -> [Element] {
    elements.withLock { elements in
      defer { elements = [] }
      return elements
    }
  }

  /// Returns when the list has at least `count` elements.
  ///
  /// - Throws: `CancellationError` when the time limit of the test is over.
  public func reaches(_ count: Int) async throws { try await elements.until { $0.count >= count } }
}
