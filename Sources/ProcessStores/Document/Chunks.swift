// SPDX-License-Identifier: Apache-2.0

/// A sequence in chunks, of which copies share what they have in common: changing a copy copies one
/// chunk, however long the sequence is.
struct Chunks<Element: Sendable>: Sendable {
  /// The place of an element; valid until elements are inserted or removed.
  struct Place {
    fileprivate let chunk: Int
    fileprivate let index: Int
  }

  /// None of them is empty.
  private(set) var chunks: [[Element]] = []
  private(set) var count = 0

  private static var maximum: Int { 32 }

  init() {}

  subscript(place: Place) -> Element {
    _read { yield chunks[place.chunk][place.index] }
    _modify { yield &chunks[place.chunk][place.index] }
  }

  /// Returns the place of a position, which must exist.
  func place(of position: Int) -> Place {
    var (chunk, start) = (chunks.count - 1, count - (chunks.last?.count ?? 0))
    // Most changes are at the end.
    if position >= start { return Place(chunk: chunk, index: position - start) }
    if position > count / 2 {
      while start > position {
        chunk -= 1
        start -= chunks[chunk].count
      }
      return Place(chunk: chunk, index: position - start)
    }
    (chunk, start) = (0, 0)
    while position - start >= chunks[chunk].count {
      start += chunks[chunk].count
      chunk += 1
    }
    return Place(chunk: chunk, index: position - start)
  }

  mutating func append(_ element: Element) {
    if let last = chunks.last, last.count < Self.maximum {
      chunks[chunks.count - 1].append(element)
    } else {
      chunks.append([element])
    }
    count += 1
  }

  mutating func insert(_ element: Element, at position: Int) {
    guard position < count else { return append(element) }
    let place = place(of: position)
    chunks[place.chunk].insert(element, at: place.index)
    count += 1
    guard chunks[place.chunk].count > Self.maximum else { return }
    let half = Self.maximum / 2
    chunks.insert(Array(chunks[place.chunk][half...]), at: place.chunk + 1)
    chunks[place.chunk].removeSubrange(half...)
  }

  mutating func remove(at place: Place) -> Element {
    let removed = chunks[place.chunk].remove(at: place.index)
    count -= 1
    // Short neighbours are joined, so that there are never many short chunks.
    let last = place.chunk + 1 < chunks.count ? place.chunk + 1 : place.chunk
    if last > 0, chunks[last - 1].count + chunks[last].count <= Self.maximum / 2 {
      chunks[last - 1] += chunks.remove(at: last)
    } else if chunks[place.chunk].isEmpty {
      chunks.remove(at: place.chunk)
    }
    return removed
  }
}

extension Chunks: Sequence {
  func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { chunks.joined().makeIterator() }
}
