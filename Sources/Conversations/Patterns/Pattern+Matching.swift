// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

extension Pattern {
  /// Compares a value with the pattern, and binds the names that are new.
  ///
  /// Names are bound in the order in which they occur in the pattern, even if there are
  /// differences.
  ///
  /// - Returns: The differences; empty if the value matches.
  func differences(from value: JSONValue, binding bindings: inout Bindings) -> [Difference] {
    var comparison = Comparison(bindings: bindings)
    comparison.compare(self, value)
    bindings = comparison.bindings
    return comparison.differences
  }

  /// Returns true if a value matches; names are bound only in this case.
  func matches(_ value: JSONValue, binding bindings: inout Bindings) -> Bool {
    var tried = bindings
    guard differences(from: value, binding: &tried).isEmpty else { return false }
    bindings = tried
    return true
  }
}

private struct Comparison {
  var bindings: Bindings
  var differences: [Difference] = []
  var path: [String] = []

  mutating func compare(_ pattern: Pattern, _ value: JSONValue) {
    switch pattern {
    case .anything(let kind):
      check(kind, value)
    case .named(let name, let kind):
      guard let bound = bindings[name] else {
        if check(kind, value) { bindings.bind(name, to: value) }
        return
      }
      if bound != value {
        let shown = bindings.given.shown(bound)
        report(
          shown == bound ? "\(bound.shortened), which is <\(name)>" : shown.shortened, value)
      }
    case .text(let parts):
      guard let text = try? Pattern.joined(parts, bindings) else {
        return report(pattern.spaced, value)
      }
      if value != .string(text) { report(bindings.given.shown(.string(text)).shortened, value) }
    case .literal(let literal):
      if literal != value { report(literal.shortened, value) }
    case .array(let elements):
      guard case .array(let values) = value else { return report(pattern.spaced, value) }
      compare(elements, values)
    case .object(let members, let isOpen):
      guard case .object(let object) = value else { return report(pattern.spaced, value) }
      compare(members, object, isOpen: isOpen)
    }
  }

  private mutating func compare(_ patterns: [Pattern], _ values: [JSONValue]) {
    for index in 0..<max(patterns.count, values.count) {
      path.append(String(index))
      defer { path.removeLast() }
      switch (index < patterns.count, index < values.count) {
      case (true, true): compare(patterns[index], values[index])
      case (true, false): report(patterns[index].spaced, nil)
      default: report(nil, values[index])
      }
    }
  }

  private mutating func compare(_ members: [Pattern.Member], _ object: JSONObject, isOpen: Bool) {
    var extra = object
    for member in members {
      path.append(member.key)
      defer { path.removeLast() }
      if let value = extra.removeValue(forKey: member.key) {
        compare(member.pattern, value)
      } else {
        report(member.pattern.spaced, nil)
      }
    }
    if isOpen { return }
    for (key, value) in extra {
      path.append(key)
      defer { path.removeLast() }
      report(nil, value)
    }
  }

  @discardableResult
  private mutating func check(_ kind: Kind?, _ value: JSONValue) -> Bool {
    guard let kind, !kind.includes(value) else { return true }
    report("any \(kind.rawValue)", value)
    return false
  }

  private mutating func report(_ expected: String?, _ received: JSONValue?) {
    let given = bindings.given
    differences.append(
      Difference(
        pointer: JSONPointer(path.map { given.shown($0) }), expected: expected?.shortened(to: 160),
        received: received.map { given.shown($0) }))
  }
}
