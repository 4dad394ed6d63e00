// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// One place at which a message is not what was expected.
struct Difference: Sendable, Equatable {
  /// Where in the message.
  let pointer: JSONPointer
  /// What was expected there, readable; nil if nothing was.
  let expected: String?
  /// What came there; nil if nothing did.
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
  /// The value in one line that a person can take in.
  var shortened: String { spaced.shortened(to: 160) }
}

extension String {
  func shortened(to limit: Int) -> String {
    unicodeScalars.count <= limit
      ? self : String(String.UnicodeScalarView(unicodeScalars.prefix(limit))) + "…"
  }
}
