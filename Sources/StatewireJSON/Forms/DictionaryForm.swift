// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The form of a dictionary, which depends on the type of its keys.
enum DictionaryForm {
  /// An object that `Dictionary` itself encodes: the keys are `String`, `Int`, or
  /// `CodingKeyRepresentable`.
  case ownObject
  /// An object: the keys are coded as strings or as integers, whose text is the name of a member.
  case object
  /// An array of entries, `{"key": …, "value": …}`.
  case entries

  /// Returns the form for a type of keys.
  ///
  /// It depends on the type and not on the keys, so that an empty dictionary has the same form.
  static func of(_ key: Any.Type) -> DictionaryForm {
    if key is any CodingKeyRepresentable.Type { return .ownObject }
    if let form = Known.form(of: key) { return form }
    let form: DictionaryForm = isCodedAsName(key) ? .object : .entries
    Known.add(form, for: key)
    return form
  }

  private static func isCodedAsName(_ key: Any.Type) -> Bool {
    if let kind = JSONSchemas().scalarKind(of: key) { return kind == "string" || kind == "integer" }
    func isName<Key: RawRepresentable>(_ type: Key.Type) -> Bool {
      Key.RawValue.self is String.Type || Key.RawValue.self is any BinaryInteger.Type
    }
    return (key as? any RawRepresentable.Type).map { isName($0) } ?? false
  }

  /// Returns the schema of the names of the members; nil if it is not known.
  static func names(of key: Any.Type, _ schemas: JSONSchemas) throws -> JSONSchema? {
    switch JSONSchemas().scalarKind(of: key) {
    case "string": try schemas.schema(of: key)
    case "integer": JSONSchema(["pattern": "^-?[0-9]+$"])
    default: nil
    }
  }

  /// Returns the name of the member for a key.
  ///
  /// - Throws: `value` if the key is coded neither as a string nor as an integer.
  static func name(of key: some Encodable, _ encoder: TextEncoder) throws -> String {
    switch try JSON.value(key) {
    case .string(let name): return name
    case .number(let number) where number.integer(Int128.self) != nil:
      return "\(number)"
    default:
      throw encoder.invalid(
        "a key of type \(type(of: key)) is coded neither as a string nor as an integer")
    }
  }

  /// Returns the key for the name of a member.
  ///
  /// - Throws: The error of the key's decoding, with the path of the member.
  static func key<Key: Decodable>(
    _ type: Key.Type, named name: String, _ decoder: TextDecoder
  ) throws -> Key {
    do throws(JSONError) {
      return try JSON.decode(Key.self, from: .string(name))
    } catch {
      if let number = try? JSONNumber(parsing: name), "\(number)" == name,
        let key = try? JSON.decode(Key.self, from: .number(number))
      {
        return key
      }
      throw JSONError(
        error.code, "a key is wrong: \(error.message)", offset: decoder.offset,
        path: decoder.text.path(to: decoder.offset) + [.key(name)])
    }
  }
}

// MARK: - Known types

extension DictionaryForm {
  /// The forms that have been determined, in a list to which any thread adds.
  ///
  /// A program has few types of keys. Entries are never removed.
  private final class Known: Sendable {
    private static let first = Atomic<Unmanaged<Known>?>(nil)

    let key: ObjectIdentifier
    let form: DictionaryForm
    let next: Unmanaged<Known>?

    private init(_ key: Any.Type, _ form: DictionaryForm, next: Unmanaged<Known>?) {
      (self.key, self.form, self.next) = (ObjectIdentifier(key), form, next)
    }

    static func form(of key: Any.Type) -> DictionaryForm? {
      var next = first.load(ordering: .acquiring)
      while let known = next?.takeUnretainedValue() {
        if known.key == ObjectIdentifier(key) { return known.form }
        next = known.next
      }
      return nil
    }

    static func add(_ form: DictionaryForm, for key: Any.Type) {
      var head = first.load(ordering: .acquiring)
      while true {
        // Two threads may add the same type; both entries say the same.
        let known = Unmanaged.passRetained(Known(key, form, next: head))
        let (isAdded, found) = first.compareExchange(
          expected: head, desired: known, ordering: .acquiringAndReleasing)
        if isAdded { return }
        known.release()
        head = found
      }
    }
  }
}
