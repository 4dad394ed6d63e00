// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// A fault in a placeholder.
struct PatternFault: Error, Equatable {
  let message: String
  /// The text of the placeholder, to find its position.
  let placeholder: String
}

extension Pattern {
  /// Parses an expected message.
  ///
  /// - Parameter known: The names that already have a value; only these can be part of a longer
  ///   string.
  init(expected value: JSONValue, known: Set<String>) throws(PatternFault) {
    self = try Pattern(value, known: known, isExpected: true)
  }

  /// Parses a message to send.
  ///
  /// - Parameter known: The names that already have a value; other names are faults.
  init(sent value: JSONValue, known: Set<String>) throws(PatternFault) {
    self = try Pattern(value, known: known, isExpected: false)
  }

  private init(
    _ value: JSONValue, known: Set<String>, isExpected: Bool
  ) throws(PatternFault) {
    switch value {
    case .null, .bool, .number:
      self = .literal(value)
    case .string(let string):
      self = try Pattern(string: string, known: known, isExpected: isExpected)
    case .array(let elements):
      var patterns: [Pattern] = []
      for element in elements {
        patterns.append(try Pattern(element, known: known, isExpected: isExpected))
      }
      self = .array(patterns)
    case .object(let object):
      var members: [Member] = []
      var isOpen = false
      for (key, value) in object {
        if isExpected, key == "...", value.string == "..." {
          isOpen = true
        } else {
          let pattern = try Pattern(value, known: known, isExpected: isExpected)
          members.append(Member(key: key, pattern: pattern))
        }
      }
      self = .object(members, isOpen: isOpen)
    }
  }

  private init(string: String, known: Set<String>, isExpected: Bool) throws(PatternFault) {
    let parts = Placeholder.parts(of: string)
    if parts.count == 1, case .hole(let name, let kind) = parts[0] {
      self = try Pattern(name: name, kind: kind, known: known, isExpected: isExpected)
      return
    }
    var text: [TextPart] = []
    for part in parts {
      switch part {
      case .text(let literal):
        text.append(.literal(literal))
      case .hole(let name, let kind):
        let written = Pattern.written(name, kind)
        if name == "_" || kind != nil {
          throw PatternFault(
            message: "\(written) cannot be part of a longer string; write <\(written) for the text",
            placeholder: written)
        }
        guard known.contains(name) else { throw .unknown(name, written) }
        text.append(.named(name))
      }
    }
    let literal = text.reduce("") { if case .literal(let part) = $1 { $0 + part } else { $0 } }
    let hasNames = text.contains { if case .named = $0 { true } else { false } }
    self = hasNames ? .text(text) : .literal(.string(literal))
  }

  private init(
    name: String, kind: String?, known: Set<String>, isExpected: Bool
  ) throws(PatternFault) {
    let written = Pattern.written(name, kind)
    if !isExpected, name == "_" || kind != nil {
      throw PatternFault(
        message: "\(written) is only allowed in expected messages; write <\(written) for the text",
        placeholder: written)
    }
    if !isExpected, !known.contains(name) { throw .unknown(name, written) }
    let knownKind = kind.flatMap(Kind.init(rawValue:))
    if let kind, knownKind == nil {
      let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
      throw PatternFault(
        message: "unknown kind \"\(kind)\"; known kinds are \(kinds)", placeholder: written)
    }
    self = name == "_" ? .anything(knownKind) : .named(name, knownKind)
  }

  private static func written(_ name: String, _ kind: String?) -> String {
    kind.map { "<\(name):\($0)>" } ?? "<\(name)>"
  }
}

extension PatternFault {
  fileprivate static func unknown(_ name: String, _ written: String) -> PatternFault {
    PatternFault(
      message: "<\(name)> has no value yet; name it in an earlier line with <--, "
        + "or write <\(written) for the text",
      placeholder: written)
  }
}
