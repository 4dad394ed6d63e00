// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// One position at which a message differs from the expected one.
struct Difference: Sendable, Equatable {
  /// The position in the message.
  let pointer: JSONPointer
  /// The expected value as text; nil if the position is not expected.
  let expected: String?
  /// The received value; nil if it is missing.
  let received: JSONValue?
}

extension Difference: CustomStringConvertible {
  var description: String {
    let place = pointer.tokens.isEmpty ? "the message" : pointer.description
    switch (expected, received) {
    case (let expected?, let received?):
      return "\(place): expected \(expected), received \(received.shortened)"
    case (let expected?, nil): return "\(place): expected \(expected), but it is missing"
    case (nil, let received?): return "\(place): not expected: \(received.shortened)"
    case (nil, nil): return "\(place): differs"
    }
  }
}

extension JSONValue {
  /// The value in one line of at most 160 characters.
  var shortened: String { spaced.shortened(to: 160) }
}
