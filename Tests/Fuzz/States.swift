// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// Two successive states, built as bytes describe, with shapes whose differences are long or
/// expensive to find.
///
/// A byte selects a shape, and the next byte its size. Missing bytes count as 0.
struct States {
  typealias Pair = (old: JSONValue, new: JSONValue)

  private var bytes: ArraySlice<UInt8>
  /// The remaining budget of values, and of bytes of keys and strings.
  private var budget = 100_000

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  /// Returns the states. Their parts are pairs as well.
  mutating func pair(depth: Int = 0) -> Pair {
    let (shape, size) = (next(), next())
    switch depth < 8 ? shape % 9 : shape % 3 {
    case 0: return (number(0), number(1))
    case 1: return (text(size, "0"), text(size, "0"))
    case 2: return (text(16 * size, "0"), text(16 * size, "1"))
    case 3: return longKey(size, pair(depth: depth + 1))
    case 4: return chain(size, pair(depth: depth + 1))
    case 5: return rows(size)
    case 6: return shifted(size, period: 1 + next())
    case 7: return renamed(size, pair(depth: depth + 1))
    default: return several(size % 8, depth)
    }
  }

  private mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }

  /// Takes `count` from the budget, or what remains of it.
  private mutating func take(_ count: Int) -> Int {
    let taken = min(count, budget)
    budget -= taken
    return taken
  }

  private func number(_ value: Int) -> JSONValue { .number(JSONNumber(value)) }

  private mutating func text(_ count: Int, _ end: String) -> JSONValue {
    .string(String(repeating: "x", count: take(count)) + end)
  }

  /// A long key, which is part of the path of each change below it.
  private mutating func longKey(_ size: Int, _ inner: Pair) -> Pair {
    let characters = ["k", "~", "/", "\u{1}", "é"]
    let key = String(repeating: characters[size % 5], count: take(16 * size))
    return ([key: inner.old], [key: inner.new])
  }

  /// Nested objects or arrays, with or without changes of siblings at each level.
  private mutating func chain(_ size: Int, _ inner: Pair) -> Pair {
    let siblings = size % 4
    let old = number(0)
    let new = number(1)
    return (0..<take(size)).reduce(inner) { pair, _ in
      switch siblings {
      case 0: (["a": pair.old], ["a": pair.new])
      case 1: ([pair.old], [pair.new])
      case 2: (["a": pair.old, "b": old], ["a": pair.new, "b": new])
      // Different siblings in another order.
      default: (["x": old, "a": pair.old, "z": old], ["y": new, "a": pair.new, "z": new])
      }
    }
  }

  /// Nested objects in which each leaf changes.
  private mutating func rows(_ size: Int) -> Pair {
    let count = take(4 * size)
    func rows(_ leaf: Int) -> JSONValue {
      .array(
        (0..<count).map {
          ["id": number($0 + leaf), "in": ["one": number(leaf), "other": [number(leaf)]]]
        })
    }
    return (rows(0), rows(1))
  }

  /// A periodic array that is shifted by one.
  private mutating func shifted(_ size: Int, period: Int) -> Pair {
    let count = take(16 * size)
    func numbers(_ shift: Int) -> JSONValue {
      .array((0..<count).map { number(($0 + shift) % (8 * period)) })
    }
    return (numbers(0), numbers(1))
  }

  /// Objects with keys that are added, removed and reordered.
  private mutating func renamed(_ size: Int, _ inner: Pair) -> Pair {
    let count = take(4 * size)
    func members(_ shift: Int, _ value: JSONValue) -> JSONValue {
      var members = (shift..<shift + count).map { ("\($0)", JSONValue.bool(true)) }
      members.append(("inner", value))
      return .object(JSONObject(shift > 0 ? members.reversed() : members))
    }
    return (members(0, inner.old), members(count / 2, inner.new))
  }

  private mutating func several(_ count: Int, _ depth: Int) -> Pair {
    let pairs = (0..<count).map { _ in pair(depth: depth + 1) }
    return (.array(pairs.map(\.old)), .array(pairs.map(\.new)))
  }
}
