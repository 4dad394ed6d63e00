// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A value that the stores of one kind in one session share.
class SharedValue {
  /// The name of the kind.
  let kind: String

  fileprivate init(_ kind: String) { self.kind = kind }
}

/// A shared value with its type.
private final class TypedSharedValue<Value>: SharedValue {
  let value: Value

  init(_ kind: String, _ value: Value) {
    self.value = value
    super.init(kind)
  }
}

extension Session {
  /// Returns the value that the stores of a kind share, created on first use.
  ///
  /// - Parameters:
  ///   - kind: The name of the kind.
  ///   - make: Creates the value from the identity of the session; nil if there are no identities.
  func sharedValue<Value: Sendable>(
    of kind: String, _ make: (_ identity: String?) -> Value
  ) -> Value {
    let known = sharedValues.first { $0.kind.hasSameBytes(as: kind) }
    if let known = known as? TypedSharedValue<Value> { return known.value }
    let made = TypedSharedValue(kind, make(identity))
    sharedValues.append(made)
    return made.value
  }
}
