// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// A number that knows its own difference: brought forward, it remembers that it was.
struct Counter: JSONDifferencing, Codable, Equatable {
  var value: Int
  /// How often it was brought forward; no part of the text.
  var steps = 0
  /// Counters of another family have nothing in common with this one.
  var family = 0

  init(value: Int, family: Int = 0) {
    self.value = value
    self.family = family
  }

  init(from decoder: any Decoder) throws { value = try Int(from: decoder) }
  func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  func write(to writer: inout JSONWriter) { writer.value(value) }

  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    guard let new = new as? Counter, new.family == family else { return false }
    steps += 1
    if value != new.value {
      value = new.value
      patch.replace { $0.value(new.value) }
    }
    return true
  }
}
