// SPDX-License-Identifier: Apache-2.0

/// A search for the path of the value at an offset of a text.
///
/// Paths of errors are computed here, so reading has no cost for them: the text is read up to the
/// offset. The text before the offset should be well formed; otherwise the path is only a less
/// useful hint.
///
/// A type may fail to decode many values, so a text may have as many errors as values. A search
/// that is kept therefore remembers some places that it has passed, and continues from the last one
/// before the offset.
struct PathSearch {
  /// A container that is open at the current place.
  fileprivate enum Step {
    case object(key: Key?)
    case array(index: Int)
  }

  fileprivate enum Key {
    case raw(Range<Int>)
    case read(String)
  }

  fileprivate struct Place {
    var at = 0
    var steps: [Step] = []
    var expectsKey = false
  }

  /// The remembered places, sorted; the first is the beginning of the text.
  private var places = [Place()]
  /// The number of remembered places.
  var placeCount: Int { places.count }

  /// The place at which the last search ended.
  private var last = Place()
  /// The number of steps made through the text, which is the cost of the paths.
  private(set) var stepCount = 0

  // The least distance between two remembered places, in bytes; a long string or key makes it
  // longer. It bounds the work for one path in a text that has been searched before.
  private var distance = 1 << 10
  // The most places to remember, because each may have a long path; beyond that their distance is
  // doubled.
  private static let mostPlaces = 1 << 10

  /// Returns the path of the value at an offset.
  ///
  /// - Parameters:
  ///   - offset: The offset in the text.
  ///   - text: The text; the same for each call.
  ///   - ofContainer: True if the path should end with the innermost container instead of the last
  ///     member or element before the offset.
  mutating func path(
    to offset: Int, in text: UnsafeRawBufferPointer, ofContainer: Bool = false
  ) -> [JSONPathElement] {
    let limit = min(offset, text.count)
    var place = start(for: limit)
    while place.at < limit {
      place.walk(text, limit)
      stepCount &+= 1
      if place.at <= limit, place.at - (places.last?.at ?? 0) >= distance { keep(&place, text) }
    }
    if place.at == limit { last = place }
    if ofContainer { _ = place.steps.popLast() }
    return place.steps.compactMap { step in
      switch step {
      case .object(let key?): .key(key.string(text))
      case .object(nil): nil
      case .array(let index): .index(index)
      }
    }
  }

  private mutating func keep(_ place: inout Place, _ text: UnsafeRawBufferPointer) {
    if places.count == Self.mostPlaces {
      places = stride(from: 0, to: places.count, by: 2).map { places[$0] }
      distance *= 2
    }
    place.readKeys(text)
    places.append(place)
  }

  /// Returns the last remembered place before an offset.
  private func start(for offset: Int) -> Place {
    // It is usually the last place of all.
    let known = places.last { $0.at <= offset } ?? Place()
    return last.at <= offset && last.at > known.at ? last : known
  }
}

extension PathSearch.Place {
  /// Advances over a string, or over one other byte.
  fileprivate mutating func walk(_ text: UnsafeRawBufferPointer, _ limit: Int) {
    switch text[at] {
    case UInt8(ascii: "{"):
      steps.append(.object(key: nil))
      expectsKey = true
    case UInt8(ascii: "["):
      steps.append(.array(index: 0))
      expectsKey = false
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      _ = steps.popLast()
      expectsKey = false
    case UInt8(ascii: ","):
      switch steps.popLast() {
      case .object?:
        steps.append(.object(key: nil))
        expectsKey = true
      case .array(let index)?:
        steps.append(.array(index: index + 1))
      case nil:
        break
      }
    case UInt8(ascii: "\""):
      let start = at + 1
      at = start
      while at < text.count, text[at] != UInt8(ascii: "\"") {
        at += text[at] == UInt8(ascii: "\\") ? 2 : 1
      }
      if expectsKey, at < limit {
        _ = steps.popLast()
        steps.append(.object(key: .raw(start..<at)))
        expectsKey = false
      }
    default:
      break
    }
    at += 1
  }

  /// Reads the keys on the path, so that a long key is not read again for each path that contains
  /// it.
  fileprivate mutating func readKeys(_ text: UnsafeRawBufferPointer) {
    for index in steps.indices {
      guard case .object(let key?) = steps[index] else { continue }
      steps[index] = .object(key: .read(key.string(text)))
    }
  }
}

extension PathSearch.Key {
  fileprivate func string(_ text: UnsafeRawBufferPointer) -> String {
    switch self {
    case .raw(let range): Unescaping.string(of: text.part(range))
    case .read(let string): string
    }
  }
}

extension JSONPathElement {
  /// Returns the path of the value at an offset of a text.
  ///
  /// - Parameter ofContainer: As for `PathSearch.path`.
  static func path(
    to offset: Int, in text: UnsafeRawBufferPointer, ofContainer: Bool = false
  ) -> [JSONPathElement] {
    var search = PathSearch()
    return search.path(to: offset, in: text, ofContainer: ofContainer)
  }
}
