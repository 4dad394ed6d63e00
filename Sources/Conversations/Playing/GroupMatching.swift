// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// A search for an assignment of messages to expectations, for messages in any order.
///
/// A single pass is not sufficient, because several expectations may contain the same name. The
/// search follows the order of arrival and abandons a branch at the first message that matches no
/// expectation. It visits many branches only if expectations are equal except for such names.
struct GroupMatching {
  struct Received {
    let connection: String
    let value: JSONValue
  }

  let expectations: [Expectation]
  private var bindings: Bindings
  /// The index of the expectation of each message that has been assigned.
  private var assigned: [Int] = []

  /// Searches for an assignment of messages to expectations.
  ///
  /// - Returns: The expectation of each message, and the values of the names; nil if there is no
  ///   assignment of all messages.
  static func assign(
    _ received: [Received], to expectations: [Expectation], _ bindings: Bindings
  ) -> (expectations: [Int], bindings: Bindings)? {
    var matching = GroupMatching(expectations: expectations, bindings: bindings)
    return matching.assign(received[...]) ? (matching.assigned, matching.bindings) : nil
  }

  private mutating func assign(_ received: ArraySlice<Received>) -> Bool {
    guard let message = received.first else { return true }
    for index in expectations.indices where !assigned.contains(index) {
      guard expectations[index].connection == message.connection else { continue }
      let before = bindings
      guard expectations[index].pattern.matches(message.value, binding: &bindings) else { continue }
      assigned.append(index)
      if assign(received.dropFirst()) { return true }
      assigned.removeLast()
      bindings = before
    }
    return false
  }

  /// Returns the candidate with the fewest differences from a message.
  static func nearest(
    to value: JSONValue, among candidates: [Expectation], _ bindings: Bindings
  ) -> Expectation? {
    candidates.min { one, other in
      one.distance(to: value, bindings) < other.distance(to: value, bindings)
    }
  }
}

extension Expectation {
  fileprivate func distance(to value: JSONValue, _ bindings: Bindings) -> Int {
    var bindings = bindings
    return pattern.differences(from: value, binding: &bindings).count
  }
}
