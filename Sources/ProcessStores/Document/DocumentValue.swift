// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import VersionedList

/// A JSON value as a tree of which copies share what they have in common: the cost of a change depends on
/// the change and the depth of the tree, not on the length of its arrays and objects.
enum DocumentValue: Sendable {
  /// Null, a Boolean, a number or a string.
  case scalar(JSONValue)
  case array(Chunks<DocumentValue>)
  case object(DocumentMembers)

  /// Creates a tree of a value.
  init(_ value: JSONValue) {
    switch value {
    case .null, .bool, .number, .string: self = .scalar(value)
    case .array(let elements):
      var copies = Chunks<DocumentValue>()
      for element in elements { copies.append(DocumentValue(element)) }
      self = .array(copies)
    case .object(let object):
      // The keys differ.
      self = .object(
        DocumentMembers(object.map { .init(id: $0.key, value: DocumentValue($0.value)) }))
    }
  }

  /// The value without shared parts.
  var json: JSONValue {
    switch self {
    case .scalar(let value): value
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(JSONObject(members.lazy.map { ($0.id, $0.value.json) }))
    }
  }

  /// The value at a path; nil if there is none.
  subscript(path: ArraySlice<String>) -> DocumentValue? {
    guard let token = path.first else { return self }
    switch self {
    case .scalar: return nil
    case .array(let elements):
      guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
      return elements[elements.place(of: index)][path.dropFirst()]
    case .object(let members): return members[token]?[path.dropFirst()]
    }
  }

  /// Returns true if both are the same data.
  func isSame(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.scalar(let own), _): own == other
    case (.array(let own), .array(let other)):
      own.count == other.count && zip(own, other).allSatisfy { $0.isSame(as: $1) }
    case (.object(let own), .object(let other)):
      own.count == other.count
        && own.allSatisfy { member in
          other[member.id].map { member.value.isSame(as: $0) } ?? false
        }
    default: false
    }
  }

  /// The length as text, in bytes, without the escapes of strings.
  var textBytes: Int {
    switch self {
    case .scalar(.string(let text)): text.utf8.count + 2
    case .scalar(.bool(let flag)): flag ? 4 : 5
    case .scalar(.null): 4
    case .scalar(let value): value.int.map { String($0).utf8.count } ?? value.bytes.count
    // Each value has a comma but the last one.
    case .array(let elements):
      elements.reduce(elements.count == 0 ? 2 : 1) { $0 + $1.textBytes + 1 }
    case .object(let members):
      members.reduce(members.count == 0 ? 2 : 1) {
        $0 + $1.id.utf8.count + 4 + $1.value.textBytes
      }
    }
  }

  /// The nesting depth of arrays and objects.
  var depth: Int {
    switch self {
    case .scalar: 0
    case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
    case .object(let members): 1 + (members.lazy.map(\.value.depth).max() ?? 0)
    }
  }
}

extension DocumentValue: JSONReadable, JSONWritable {
  init(reading reader: inout JSONReader) throws(JSONError) {
    switch try reader.peek() {
    case .null, .bool, .number, .string: self = .scalar(try reader.readValue())
    case .array:
      var elements = Chunks<DocumentValue>()
      try reader.beginArray()
      while try reader.nextElement() { elements.append(try DocumentValue(reading: &reader)) }
      self = .array(elements)
    case .object:
      var members = DocumentMembers([])
      try reader.beginObject()
      while let key = try reader.nextKey() {
        let key = key.string
        _ = members.set(key, to: try DocumentValue(reading: &reader))
      }
      self = .object(members)
    }
  }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .scalar(let value): writer.value(value)
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.id)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

// MARK: - Changes in place

extension DocumentValue {
  /// The place at which a value was added.
  enum Place {
    /// The whole document, or a member that exists, whose value was replaced.
    case replaced(DocumentValue)
    case element(Int)
    case newMember
  }

  /// Adds a member or an element, as the operation `add` of a patch.
  ///
  /// - Returns: Nil if the path does not exist.
  mutating func add(_ value: DocumentValue, at path: [String]) -> Place? {
    guard let last = path.last else {
      defer { self = value }
      return .replaced(self)
    }
    return change(at: path.dropLast()) { parent in
      parent.inContainer { elements in
        let count = elements.count
        guard let index = last == "-" ? count : JSONPointer.index(last, count: count + 1) else {
          return nil
        }
        elements.insert(value, at: index)
        return .element(index)
      } orObject: { members in
        members.set(last, to: value).map { .replaced($0) } ?? .newMember
      }
    }
  }

  /// Removes the value at a path, and leaves null in place of the whole document.
  ///
  /// - Returns: Nil if the path does not exist.
  mutating func remove(at path: [String]) -> (value: DocumentValue, isElement: Bool)? {
    guard let last = path.last else {
      defer { self = .scalar(.null) }
      return (self, false)
    }
    return change(at: path.dropLast()) { parent in
      parent.inContainer { elements in
        JSONPointer.index(last, count: elements.count).map {
          (elements.remove(at: elements.place(of: $0)), true)
        }
      } orObject: { members in
        members.remove(last).map { ($0, false) }
      }
    }
  }

  /// Replaces the value at a path.
  ///
  /// - Returns: The value before; nil if the path does not exist.
  mutating func replace(at path: [String], with value: DocumentValue) -> DocumentValue? {
    change(at: path[...]) { held in
      defer { held = value }
      return held
    }
  }

  /// - Returns: The result of `body`; nil if the path does not exist.
  private mutating func change<Result>(
    at path: ArraySlice<String>, _ body: (inout DocumentValue) -> Result?
  ) -> Result? {
    guard let token = path.first else { return body(&self) }
    return inContainer { elements in
      guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
      return elements[elements.place(of: index)].change(at: path.dropFirst(), body)
    } orObject: { members in
      members.update(token) { $0.change(at: path.dropFirst(), body) }
    }
  }

  /// Changes elements or members in place. They are moved out of the value and back, because a second
  /// reference would copy them.
  private mutating func inContainer<Result>(
    _ inArray: (inout Chunks<DocumentValue>) -> Result?,
    orObject inObject: (inout DocumentMembers) -> Result?
  ) -> Result? {
    switch consume self {
    case .scalar(let value):
      self = .scalar(value)
      return nil
    case .array(var elements):
      defer { self = .array(elements) }
      return inArray(&elements)
    case .object(var members):
      defer { self = .object(members) }
      return inObject(&members)
    }
  }
}
