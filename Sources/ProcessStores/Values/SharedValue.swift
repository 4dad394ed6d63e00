// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A JSON value as a tree. Copies share the parts that are equal, and a change of a copy copies a small
/// part of each container on its path.
enum SharedValue: Sendable {
  /// A value as it was read: nothing within it has changed since.
  case whole(JSONValue)
  case array(ElementTree<SharedValue>)
  case object(SharedMembers)

  /// Creates a tree of a value.
  init(_ value: JSONValue) { self = .whole(value) }

  /// The value without shared parts.
  var json: JSONValue {
    switch self {
    case .whole(let value): value
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(JSONObject(members.map { ($0.key, $0.value.json) }))
    }
  }

  /// The value at a path; nil if there is none.
  subscript(path: ArraySlice<String>) -> SharedValue? {
    guard let token = path.first else { return self }
    switch self {
    case .whole(let value): return value[JSONPointer(Array(path))].map(SharedValue.init)
    case .array(let elements):
      guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
      return elements[index][path.dropFirst()]
    case .object(let members): return members[token]?[path.dropFirst()]
    }
  }

  /// Returns true if both are the same data.
  func isSame(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.whole(let own), _): own == other
    case (.array(let own), .array(let other)):
      own.count == other.count && zip(own, other).allSatisfy { $0.isSame(as: $1) }
    case (.object(let own), .object(let other)):
      own.count == other.count
        && own.allSatisfy { member in
          other[member.key].map { member.value.isSame(as: $0) } ?? false
        }
    default: false
    }
  }

  /// Returns true if both are the same data. Parts that both share are not compared.
  func isSame(as other: SharedValue) -> Bool {
    switch (self, other) {
    case (.whole(let own), _): other.isSame(as: own)
    case (_, .whole(let other)): isSame(as: other)
    case (.array(let own), .array(let other)): own.isSame(as: other) { $0.isSame(as: $1) }
    case (.object(let own), .object(let other)): own.isSame(as: other)
    default: false
    }
  }

  /// The length as compact text, in bytes.
  var textBytes: Int {
    switch self {
    case .whole(let value): value.textBytes
    // Each value has a comma but the last one.
    case .array(let elements):
      elements.reduce(elements.count == 0 ? 2 : 1) { $0 + $1.textBytes + 1 }
    case .object(let members):
      members.reduce(members.count == 0 ? 2 : 1) {
        $0 + $1.key.textBytes + 1 + $1.value.textBytes + 1
      }
    }
  }

  /// The nesting depth of arrays and objects.
  var depth: Int {
    switch self {
    case .whole(let value): value.depth
    case .array(let elements): 1 + elements.reduce(0) { Swift.max($0, $1.depth) }
    case .object(let members): 1 + members.reduce(0) { Swift.max($0, $1.value.depth) }
    }
  }
}

extension SharedValue: JSONReadable, JSONWritable {
  init(reading reader: inout JSONReader) throws(JSONError) { self = .whole(try reader.readValue()) }

  func write(to writer: inout JSONWriter) {
    switch self {
    case .whole(let value): writer.value(value)
    case .array(let elements):
      writer.beginArray()
      for element in elements { element.write(to: &writer) }
      writer.endArray()
    case .object(let members):
      writer.beginObject()
      for member in members {
        writer.key(member.key)
        member.value.write(to: &writer)
      }
      writer.endObject()
    }
  }
}

// MARK: - Changes in place

extension SharedValue {
  /// The effect of the operation `add`.
  enum Addition {
    /// The value before of the whole, or of a member that exists.
    case replaced(SharedValue)
    /// A new element at an index, or a new member, in a container that now has a number of values.
    case element(Int, of: Int)
    case newMember(of: Int)
  }

  /// A value that was removed from a container.
  struct Removal {
    let value: SharedValue
    /// True if the container is an array.
    let isElement: Bool
    /// The number of values that the container has left.
    let left: Int
  }

  /// Adds a member or an element, as the operation `add` of a patch.
  ///
  /// - Returns: Nil if the path does not exist.
  mutating func add(_ value: SharedValue, at path: [String]) -> Addition? {
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
        return .element(index, of: elements.count)
      } orObject: { members in
        members.set(last, to: value).map { .replaced($0) } ?? .newMember(of: members.count)
      }
    }
  }

  /// Removes the value at a path, and leaves null in place of the whole.
  ///
  /// - Returns: Nil if the path does not exist.
  mutating func remove(at path: [String]) -> Removal? {
    guard let last = path.last else {
      defer { self = SharedValue(.null) }
      return Removal(value: self, isElement: false, left: 0)
    }
    return change(at: path.dropLast()) { parent in
      parent.inContainer { elements in
        JSONPointer.index(last, count: elements.count).map {
          let value = elements.remove(at: $0)
          return Removal(value: value, isElement: true, left: elements.count)
        }
      } orObject: { members in
        members.remove(last).map { Removal(value: $0, isElement: false, left: members.count) }
      }
    }
  }

  /// Replaces the value at a path.
  ///
  /// - Returns: The value before; nil if the path does not exist.
  mutating func replace(at path: [String], with value: SharedValue) -> SharedValue? {
    change(at: path[...]) { held in
      defer { held = value }
      return held
    }
  }

  /// - Returns: The result of `body`; nil if the path does not exist.
  private mutating func change<Result>(
    at path: ArraySlice<String>, _ body: (inout SharedValue) -> Result?
  ) -> Result? {
    guard let token = path.first else { return body(&self) }
    return inContainer { elements in
      guard let index = JSONPointer.index(token, count: elements.count) else { return nil }
      return elements.update(at: index) { $0.change(at: path.dropFirst(), body) }
    } orObject: { members in
      members.update(token) { $0.change(at: path.dropFirst(), body) }
    }
  }

  /// Changes elements or members in place. They are moved out of the value and back, because a second
  /// reference would copy them.
  ///
  /// A whole value is divided into its parts before its first change.
  private mutating func inContainer<Result>(
    _ inArray: (inout ElementTree<SharedValue>) -> Result?,
    orObject inObject: (inout SharedMembers) -> Result?
  ) -> Result? {
    switch consume self {
    case .whole(.array(let whole)):
      var elements = ElementTree(whole.lazy.map(SharedValue.init))
      defer { self = .array(elements) }
      return inArray(&elements)
    case .whole(.object(let whole)):
      var members = SharedMembers(whole)
      defer { self = .object(members) }
      return inObject(&members)
    case .whole(let value):
      self = .whole(value)
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
