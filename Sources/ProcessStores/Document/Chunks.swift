// SPDX-License-Identifier: Apache-2.0

/// A sequence in chunks. Copies share the chunks that are equal: a change of a copy copies one chunk and
/// the list of chunks.
struct Chunks<Element: Sendable>: Sendable {
  /// The place of an element; valid until elements are inserted or removed.
  struct Place {
    fileprivate let chunk: Int
    fileprivate let index: Int
  }

  /// The chunks; each has at least one element.
  private(set) var chunks: [[Element]] = []
  private(set) var count = 0

  /// The most elements of a new chunk. In a long sequence chunks are longer, because a change copies
  /// the list of chunks, too.
  private var maximum: Int { count < 4_096 ? 32 : 128 }

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
    if let last = chunks.last, last.count < maximum {
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
    let size = chunks[place.chunk].count
    guard size > maximum else { return }
    chunks.insert(Array(chunks[place.chunk][(size / 2)...]), at: place.chunk + 1)
    chunks[place.chunk].removeSubrange((size / 2)...)
  }

  mutating func remove(at place: Place) -> Element {
    let removed = chunks[place.chunk].remove(at: place.index)
    count -= 1
    // Short neighbours are joined, so that there are never many short chunks.
    if !join(place.chunk, place.chunk + 1), !join(place.chunk - 1, place.chunk),
      chunks[place.chunk].isEmpty
    {
      chunks.remove(at: place.chunk)
    }
    return removed
  }

  /// Joins two neighbours if both exist and are short together.
  private mutating func join(_ first: Int, _ second: Int) -> Bool {
    guard first >= 0, second < chunks.count,
      chunks[first].count + chunks[second].count <= maximum / 2
    else { return false }
    chunks[first] += chunks.remove(at: second)
    return true
  }
}

extension Chunks {
  /// Returns true if both have the same elements. Chunks that both share are not compared.
  func isSame(as other: Chunks, by areSame: (Element, Element) -> Bool) -> Bool {
    guard count == other.count else { return false }
    // Most changes leave the limits of the chunks as they are.
    guard chunks.elementsEqual(other.chunks, by: { $0.count == $1.count }) else {
      return elementsEqual(other, by: areSame)
    }
    return chunks.elementsEqual(other.chunks) {
      $0.sharesMemory(with: $1) || $0.elementsEqual($1, by: areSame)
    }
  }
}

extension Array {
  /// Returns true if both are copies of one array that neither has changed.
  func sharesMemory(with other: Array) -> Bool {
    withUnsafeBufferPointer { own in
      other.withUnsafeBufferPointer { own.baseAddress == $0.baseAddress && own.count == $0.count }
    }
  }
}

extension Chunks: Sequence {
  func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { chunks.joined().makeIterator() }
}
