// SPDX-License-Identifier: Apache-2.0

/// A JSON Patch (RFC 6902): operations that change one document to another.
public struct JSONPatch: Sendable, Equatable {
  /// One operation.
  public enum Operation: Sendable, Equatable {
    /// Adds or replaces a member, or inserts an element; the index `-` appends.
    case add(JSONPointer, JSONValue)
    /// Removes the value.
    case remove(JSONPointer)
    /// Replaces the value.
    case replace(JSONPointer, JSONValue)
    /// Moves the value from one path to another.
    case move(from: JSONPointer, to: JSONPointer)
    /// Copies the value from one path to another.
    case copy(from: JSONPointer, to: JSONPointer)
    /// Fails if the value at the path differs; changes nothing.
    case test(JSONPointer, JSONValue)
  }

  /// The operations, in the order of application.
  public var operations: [Operation]

  /// Creates a patch of operations, in the order of application.
  public init(_ operations: [Operation] = []) { self.operations = operations }

  /// True if there are no operations.
  public var isEmpty: Bool { operations.isEmpty }

  /// Reads a patch: an array of objects, each with `op` and the members that the operation
  /// requires. Other members are ignored.
  ///
  /// - Throws: `JSONError` with the code `patch`, `missing`, `type` or `pointer`; its path begins
  ///   with the operation's index.
  /// - Source: RFC 6902 §3 and §4.
  public init(_ value: JSONValue) throws(JSONError) {
    guard case .array(let elements) = value else {
      throw JSONError(.patch, "a patch is an array of operations")
    }
    operations = []
    operations.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      do {
        operations.append(try Operation(element))
      } catch {
        throw error.under(.index(index))
      }
    }
  }

  /// The patch as JSON.
  public var value: JSONValue { .array(operations.map(\.value)) }
}

extension JSONPatch.Operation {
  init(_ value: JSONValue) throws(JSONError) {
    guard case .object(let members) = value else {
      throw JSONError(.type, "an operation is an object")
    }
    func string(_ key: String) throws(JSONError) -> String {
      guard let member = members[key] else {
        throw JSONError(.missing, "the operation has no \(key.quoted())", path: [.key(key)])
      }
      guard let string = member.string else {
        throw JSONError(.type, "\(key.quoted()) is not a string", path: [.key(key)])
      }
      return string
    }
    func pointer(_ key: String) throws(JSONError) -> JSONPointer {
      do {
        return try JSONPointer(parsing: try string(key))
      } catch {
        guard error.path.isEmpty else { throw error }
        throw error.under(.key(key))
      }
    }
    func payload() throws(JSONError) -> JSONValue {
      guard let value = members["value"] else {
        throw JSONError(.missing, "the operation has no \"value\"", path: [.key("value")])
      }
      return value
    }
    let name = try string("op")
    switch name {
    case "add": self = .add(try pointer("path"), try payload())
    case "remove": self = .remove(try pointer("path"))
    case "replace": self = .replace(try pointer("path"), try payload())
    case "move": self = .move(from: try pointer("from"), to: try pointer("path"))
    case "copy": self = .copy(from: try pointer("from"), to: try pointer("path"))
    case "test": self = .test(try pointer("path"), try payload())
    default: throw JSONError(.patch, "unknown operation \(name.quoted())", path: [.key("op")])
    }
  }

  var value: JSONValue {
    func text(_ pointer: JSONPointer) -> JSONValue { .string(pointer.description) }
    return switch self {
    case .add(let path, let value): ["op": "add", "path": text(path), "value": value]
    case .remove(let path): ["op": "remove", "path": text(path)]
    case .replace(let path, let value): ["op": "replace", "path": text(path), "value": value]
    case .move(let from, let path): ["op": "move", "from": text(from), "path": text(path)]
    case .copy(let from, let path): ["op": "copy", "from": text(from), "path": text(path)]
    case .test(let path, let value): ["op": "test", "path": text(path), "value": value]
    }
  }
}
