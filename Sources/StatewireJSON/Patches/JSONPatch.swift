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
    do throws(JSONError) {
      try self.init(parsing: value.bytes, limits: JSONLimits(maximumDepth: .max))
    } catch {
      // The offset is in a text that only this function knows.
      var error = error
      error.offset = nil
      throw error
    }
  }

  /// Reads a patch from text.
  ///
  /// - Parameters:
  ///   - text: One JSON text in UTF-8.
  ///   - limits: The limits of the reader.
  /// - Throws: The errors of `init(_:)`, or an error of the reader.
  public init(parsing text: [UInt8], limits: JSONLimits = .init()) throws(JSONError) {
    self = try text.withRawBytes { bytes throws(JSONError) in
      var reader = JSONReader(bytes, limits: limits)
      let patch = try JSONPatch(reading: &reader)
      try reader.finish()
      return patch
    }
  }

  /// The patch as JSON.
  public var value: JSONValue { .array(operations.map(\.value)) }
}

extension JSONPatch: JSONReadable {
  /// Reads a patch from text; only the values of its operations become trees.
  ///
  /// - Throws: The errors of `init(_:)`, with the path in the whole text, or an error of the reader.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    guard try reader.peek() == .array else {
      throw reader.error(.patch, "a patch is an array of operations")
    }
    operations = []
    try reader.beginArray()
    while try reader.nextElement() {
      guard try reader.peek() == .object else {
        throw reader.error(.type, "an operation is an object")
      }
      let start = reader.nextValueOffset()
      let members = try reader.readMembers()
      do throws(JSONError) {
        operations.append(try Operation(members))
      } catch {
        // With the path of the operation in the whole text.
        var located = reader.error(error.code, error.message, at: start)
        located.path += error.path
        throw located
      }
    }
  }
}

extension JSONPatch.Operation {
  fileprivate init(_ members: JSONMembers) throws(JSONError) {
    func member(_ key: StaticString) throws(JSONError) -> JSONReader {
      guard let reader = members[key] else {
        throw JSONError(.missing, "the operation has no \"\(key)\"", path: [.key("\(key)")])
      }
      return reader
    }
    func text(_ key: StaticString) throws(JSONError) -> JSONKey {
      var reader = try member(key)
      guard try reader.peek() == .string else {
        throw JSONError(.type, "\"\(key)\" is not a string", path: [.key("\(key)")])
      }
      return try reader.scanString()
    }
    func pointer(_ key: StaticString) throws(JSONError) -> JSONPointer {
      let text = try text(key)
      do throws(JSONError) {
        return try JSONPointer(parsing: text)
      } catch {
        throw error.under(.key("\(key)"))
      }
    }
    func value() throws(JSONError) -> JSONValue {
      var reader = try member("value")
      return try reader.readValue()
    }
    let name = try text("op")
    switch name {
    case "add": self = .add(try pointer("path"), try value())
    case "remove": self = .remove(try pointer("path"))
    case "replace": self = .replace(try pointer("path"), try value())
    case "move": self = .move(from: try pointer("from"), to: try pointer("path"))
    case "copy": self = .copy(from: try pointer("from"), to: try pointer("path"))
    case "test": self = .test(try pointer("path"), try value())
    default:
      throw JSONError(.patch, "unknown operation \(name.string.quoted())", path: [.key("op")])
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
