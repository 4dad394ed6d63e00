// SPDX-License-Identifier: Apache-2.0

/// The values that the stores of one kind in one session share, by the kind's name.
final class SharedValues {
  /// The identity of the session; nil if there are no identities.
  var identity: String?
  private var values = ByName<any Sendable>()

  func value<Value: Sendable>(_ kind: String, _ make: (_ identity: String?) -> Value) -> Value {
    if let value = values[kind] as? Value { return value }
    let value = make(identity)
    values[kind] = value
    return value
  }
}
