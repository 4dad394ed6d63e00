// SPDX-License-Identifier: Apache-2.0

/// Finds the path of the value that an offset of a text lies in.
///
/// This is how errors get their paths at no cost to those who make none: the text is walked up to
/// the offset. What comes before it is expected to be well formed; if it is not, the path is merely a
/// worse hint.
///
/// A type may try to decode each of many values in vain, so that one text has as many errors as values. So a
/// search that is kept knows some places that it has come by, and walks on from the last one of them.
struct PathSearch {
  /// A container that is open at the place reached so far.
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
    var wantsKey = false
  }

  /// In their order, the first at the beginning.
  private var places = [Place()]
  /// How many of them it keeps.
  var placeCount: Int { places.count }

  /// Where the last path led to.
  private var last = Place()
  /// How many steps it has made through the text, which is what paths cost.
  private(set) var stepCount = 0

  // So much lies between two places, beside a text or key that is longer: all that is walked for one path in a
  // text that has been walked before.
  private var distance = 1 << 10
  // A place may have a long path; more than these stand further apart.
  private static let mostPlaces = 1 << 10

  /// The path of the value that an offset lies in.
  ///
  /// - Parameters:
  ///   - offset: Where to.
  ///   - text: The same each time.
  ///   - ofContainer: Whether the path is to end with the innermost container and not with
  ///     the member or element of it that was come to last.
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

  /// The last place that is known before an offset.
  private func start(for offset: Int) -> Place {
    // Most often that is the last of all.
    let known = places.last { $0.at <= offset } ?? Place()
    return last.at <= offset && last.at > known.at ? last : known
  }
}

extension PathSearch.Place {
  /// Walks over a text, or over what else comes next.
  fileprivate mutating func walk(_ text: UnsafeRawBufferPointer, _ limit: Int) {
    switch text[at] {
    case UInt8(ascii: "{"):
      steps.append(.object(key: nil))
      wantsKey = true
    case UInt8(ascii: "["):
      steps.append(.array(index: 0))
      wantsKey = false
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      _ = steps.popLast()
      wantsKey = false
    case UInt8(ascii: ","):
      switch steps.popLast() {
      case .object?:
        steps.append(.object(key: nil))
        wantsKey = true
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
      if wantsKey, at < limit {
        _ = steps.popLast()
        steps.append(.object(key: .raw(start..<at)))
        wantsKey = false
      }
    default:
      break
    }
    at += 1
  }

  /// Reads the keys on the path, so that a long one is not read again for each path that it is part of.
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
  /// The path of the value that an offset of a text lies in.
  /// - Parameter ofContainer: As for `PathSearch`.
  static func path(
    to offset: Int, in text: UnsafeRawBufferPointer, ofContainer: Bool = false
  ) -> [JSONPathElement] {
    var search = PathSearch()
    return search.path(to: offset, in: text, ofContainer: ofContainer)
  }
}
