// SPDX-License-Identifier: Apache-2.0

@_spi(Reflection) internal import Swift

/// A coding key of a type: its name on the wire, and the name of its case, which is that of the
/// property that it stands for.
struct ProbedKey {
  let name: String
  let property: String

  /// Returns the keys of a type of coding keys with a fixed set of keys; empty for any other type.
  static func all<Key: CodingKey>(of type: Key.Type) -> [ProbedKey] {
    guard Tagging.isClosed(type), let keys = allCases(of: type) else { return [] }
    return keys.compactMap { key in
      caseName(key).map { ProbedKey(name: key.stringValue, property: String(cString: $0)) }
    }
  }
}

/// Returns the name of the case of an enum, which the descriptions of coding keys hide.
@_silgen_name("swift_EnumCaseName")
private func caseName<Value>(_ value: Value) -> UnsafePointer<CChar>?

/// Returns the types of the stored properties of a struct or class, by name.
///
/// For a type whose decoding stops early: the members that it would have requested next are those
/// properties for which it has coding keys.
func storedProperties(of type: Any.Type) -> [String: Any.Type] {
  var properties: [String: Any.Type] = [:]
  let options = _EachFieldOptions(rawValue: type is AnyObject.Type ? 1 : 0)
  _forEachField(of: type, options: options) { name, _, type, _ in
    properties[String(cString: name)] = type
    return true
  }
  return properties
}

/// Returns the types of the fields of a struct or tuple, in order, with their offsets in bytes; empty
/// for any other type.
func storedFields(of type: Any.Type) -> [(offset: Int, type: Any.Type)] {
  var fields: [(offset: Int, type: Any.Type)] = []
  _forEachField(of: type) { _, offset, type, _ in
    fields.append((offset, type))
    return true
  }
  return fields
}
