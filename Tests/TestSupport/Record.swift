// SPDX-License-Identifier: Apache-2.0

/// A list that several tasks add to and take from, and whose growth a test can wait for.
public final class Record<Element: Sendable>: Sendable {
  private let elements: Watched<[Element]>

  public init(_ elements: [Element] = []) { self.elements = Watched(elements) }

  public var all: [Element] { elements.withLock { $0 } }
  public var count: Int { elements.withLock { $0.count } }

  @Sendable
  public func add(_ element: Element) { elements.withLock { $0.append(element) } }

  /// Takes the first element.
  public func next() -> Element { elements.withLock { $0.removeFirst() } }

  /// Takes all elements.
  @discardableResult
  public func removeAll() -> [Element] {
    elements.withLock { elements in
      defer { elements = [] }
      return elements
    }
  }

  /// Returns when so many elements are there.
  /// - Throws: `CancellationError` when the test's time is up.
  public func reaches(_ count: Int) async throws { try await elements.until { $0.count >= count } }
}
