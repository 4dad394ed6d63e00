// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// A number that computes its own difference and counts its updates.
struct Counter: JSONDifferencing, Codable, Equatable {
  var value: Int
  /// The number of updates; not part of the text.
  var steps = 0
  /// Counters of different families cannot be updated to each other.
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
