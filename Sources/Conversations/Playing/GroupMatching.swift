// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// Finds out which messages fulfil which expectations, in whatever order they came.
///
/// Names that several expectations share are the reason why this is a search and no single pass. It
/// follows the order of arrival and gives up a branch at its first message that fits nowhere; only
/// expectations that are alike except for such names make it look at many branches.
struct GroupMatching {
  struct Received {
    let connection: String
    let value: JSONValue
  }

  let expectations: [Expectation]
  private var bindings: Bindings
  /// The expectation of each message, so far.
  private var assigned: [Int] = []

  /// - Returns: The expectation of each message and the names that they bind; nil if the messages
  ///   cannot all be expected ones.
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

  /// The expectation that a message comes closest to, among some.
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
