// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The difference between an expected and an actual value, as one line for each path at which they
/// differ, such as `todos[0].title: expected "Buy milk", got "Buy"`.
struct Difference {
  private(set) var lines: [String] = []

  // People do not read more lines, and most often all of them have one cause.
  private static var maximumLines: Int { 20 }
  private static var maximumCharacters: Int { 200 }

  init(from expected: JSONValue, to actual: JSONValue) {
    compare(expected, actual, "")
    let more = lines.count - Self.maximumLines
    guard more > 0 else { return }
    lines.removeLast(more)
    lines.append("and \(more) more")
  }

  private mutating func compare(_ expected: JSONValue?, _ actual: JSONValue?, _ path: String) {
    switch (expected, actual) {
    case (.object(let expected)?, .object(let actual)?):
      for key in expected.keys + actual.keys.filter({ expected[$0] == nil }) {
        compare(expected[key], actual[key], path.isEmpty ? key : "\(path).\(key)")
      }
    case (.array(let expected)?, .array(let actual)?):
      compare(expected, actual, path)
    case _ where expected != actual:
      let place = path.isEmpty ? "" : "\(path): "
      lines.append("\(place)expected \(Self.text(of: expected)), got \(Self.text(of: actual))")
    default:
      break
    }
  }

  /// Compares the elements that are neither in the common beginning nor in the common end, so that
  /// one element too many is one line.
  private mutating func compare(_ expected: [JSONValue], _ actual: [JSONValue], _ path: String) {
    let start = zip(expected, actual).prefix { $0 == $1 }.count
    let rest = (expected.dropFirst(start), actual.dropFirst(start))
    let end = zip(rest.0.reversed(), rest.1.reversed()).prefix { $0 == $1 }.count
    let (old, new) = (rest.0.dropLast(end), rest.1.dropLast(end))
    for index in start..<max(old.endIndex, new.endIndex) {
      compare(
        index < old.endIndex ? .some(old[index]) : .none,
        index < new.endIndex ? .some(new[index]) : .none, "\(path)[\(index)]")
    }
  }

  private static func text(of value: JSONValue?) -> String {
    guard let text = value?.description else { return "nothing" }
    return text.count > maximumCharacters ? "\(text.prefix(maximumCharacters))…" : text
  }
}

extension JSONValue {
  /// Creates a value that shows the members of any value, for values that cannot be encoded.
  init(reflecting value: Any) {
    let mirror = Mirror(reflecting: value)
    switch (mirror.displayStyle, value) {
    case (_, let bool as Bool): self = .bool(bool)
    case (_, let text as String): self = .string(text)
    case (_, let integer as any FixedWidthInteger):
      self = Int64(exactly: integer).map { .number(JSONNumber($0)) } ?? .string("\(integer)")
    case (.optional, _):
      self = mirror.children.first.map { JSONValue(reflecting: $0.value) } ?? .null
    case (.collection, _), (.set, _):
      self = .array(mirror.children.map { JSONValue(reflecting: $0.value) })
    case (_, _) where mirror.children.isEmpty:
      self = .string("\(value)")
    default:
      self = .object(
        JSONObject(
          mirror.children.enumerated().map { index, child in
            (child.label ?? "\(index)", JSONValue(reflecting: child.value))
          }))
    }
  }
}
