// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The member of a parent's input that contains the input of a child: `input` of
/// `{"type": "left", "input": {…}}`. It is determined when a child refuses an input.
enum ChildLabel {
  /// Returns the member of an input whose value has a type.
  ///
  /// - Returns: The name of the member as Swift's own coding writes it; nil if there is none.
  static func label<Part>(of part: Part.Type, in input: Any) -> String? {
    let mirror = Mirror(reflecting: input)
    guard mirror.displayStyle == .enum else { return name(of: part, in: mirror) }
    guard let payload = mirror.children.first?.value else { return nil }
    if payload is Part { return "_0" }
    return name(of: part, in: Mirror(reflecting: payload))
  }

  /// The last member counts: the id of an element, which may have the same type, comes before it.
  private static func name<Part>(of part: Part.Type, in members: Mirror) -> String? {
    guard let label = Array(members.children).last(where: { $0.value is Part })?.label else {
      return nil
    }
    // A mirror names the members of a tuple without labels `.0` and `.1`.
    return label.hasPrefix(".") ? "_" + label.dropFirst() : Tagging.wireName(ofField: label)
  }

  /// Returns a small value of a type, for an input that is no longer known; nil if none is found.
  static func sample<Value>(of type: Value.Type) -> Value? {
    if let value = OnlyKey() as? Value { return value }
    guard let type = type as? any Decodable.Type else { return nil }
    return (try? JSONSchemas().value(of: type)) as? Value
  }
}

/// The label of a child for refusals by its work, kept after the first one.
final class KeptLabel: Sendable {
  private let label = Lock<String??>(nil)
  private let find: @Sendable () -> String?

  init(_ find: @escaping @Sendable () -> String?) { self.find = find }

  var value: String? {
    if let known = label.withLock({ $0 }) { return known }
    let found = find()
    label.withLock { $0 = .some(found) }
    return found
  }
}
