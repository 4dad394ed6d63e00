// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The application of a patch to a tree.
struct ValuePatching {
  private(set) var value: SharedValue
  /// The operations that clients know and that make the same change. A change that changes nothing is
  /// not among them. Nil if they are too many.
  private(set) var change: [JSONPatch.Operation]? = []
  /// The length of the value as compact text, in bytes.
  private(set) var bytes: Int
  /// The bytes that `copy` operations have added, and that `move` operations have moved to other containers.
  private var (copiedBytes, movedBytes) = (0, 0)

  /// The most bytes that the `copy` operations of one patch add, and the most that moves contribute to
  /// its change.
  private static let maximumCopiedBytes = 1 << 20
  /// The most bytes that several moves of one patch have together.
  private static let maximumMovedBytes = 64 << 20

  /// True if the operations may cancel each other, and the value may be as it was before.
  var mayCancel: Bool { change?.count != 1 || hasMovedEqual }
  /// True if an element was moved and an equal one has its place.
  private var hasMovedEqual = false

  init(_ value: SharedValue, bytes: Int) { (self.value, self.bytes) = (value, bytes) }

  /// Applies an operation.
  ///
  /// - Throws: `JSONError` if it cannot be applied; the value is not usable then.
  mutating func apply(_ operation: JSONPatch.Operation) throws(JSONError) {
    switch operation {
    case .test(let path, let expected):
      guard try value(at: path).isSame(as: expected) else {
        throw JSONError(.patch, "the test failed")
      }
    case .replace(let path, let json):
      let new = SharedValue(json)
      let newBytes = try checkedBytes(of: new, at: path)
      guard let old = value.replace(at: path.tokens, with: new) else { throw path.missing }
      bytes += newBytes - old.textBytes
      if !old.isSame(as: json) { change?.append(operation) }
    case .remove(let path):
      let removed = try remove(at: path)
      guard path.tokens.isEmpty else {
        change?.append(operation)
        return
      }
      // For clients the whole is only ever replaced.
      if !removed.value.isSame(as: .null) { change?.append(.replace(path, .null)) }
    case .add(let path, let json): try add(SharedValue(json), at: path, json)
    case .copy(let from, let path):
      let copy = try value(at: from)
      copiedBytes += copy.textBytes
      guard copiedBytes <= Self.maximumCopiedBytes else {
        throw JSONError(.limit, "the copies have more than \(Self.maximumCopiedBytes) bytes")
      }
      try add(copy, at: path, copy.json)
    case .move(let from, let path): try move(from: from, to: path, operation)
    }
  }

  /// - Parameter json: The value, which is made only if it is needed.
  private mutating func add(
    _ new: SharedValue, at path: JSONPointer, _ json: @autoclosure () -> JSONValue
  ) throws(JSONError) {
    switch try insert(new, at: path) {
    case .replaced(let old):
      if change == nil { return }
      let json = json()
      if !old.isSame(as: json) {
        change?.append(path.tokens.isEmpty ? .replace(path, json) : .add(path, json))
      }
    case .element(let index, _):
      let place =
        path.tokens.last == "-" ? JSONPointer(path.tokens.dropLast() + [String(index)]) : path
      change?.append(.add(place, json()))
    case .newMember: change?.append(.add(path, json()))
    }
  }

  private mutating func move(
    from: JSONPointer, to path: JSONPointer, _ operation: JSONPatch.Operation
  ) throws(JSONError) {
    guard !from.isProperPrefix(of: path) else {
      throw JSONError(.patch, "a value cannot be moved into itself")
    }
    guard from != path else {
      _ = try value(at: from)
      return
    }
    let before = bytes
    let removed = try remove(at: from)
    // Each move counts the bytes of its value.
    let isFirst = movedBytes == 0
    movedBytes += before - bytes
    guard isFirst || movedBytes <= Self.maximumMovedBytes else {
      throw JSONError(.limit, "the moved values have more than \(Self.maximumMovedBytes) bytes")
    }
    // Clients know moves within an array.
    if removed.isElement, !path.tokens.isEmpty, from.parent == path.parent, path.tokens.last != "-"
    {
      _ = try insert(removed.value, at: path)
      change?.append(operation)
      if try value(at: from).isSame(as: removed.value) { hasMovedEqual = true }
      return
    }
    if movedBytes > Self.maximumCopiedBytes { change = nil }
    change?.append(.remove(from))
    try add(removed.value, at: path, removed.value.json)
  }

  /// Adds a value; counts its bytes, its key, and a comma.
  private mutating func insert(
    _ new: SharedValue, at path: JSONPointer
  ) throws(JSONError) -> SharedValue.Addition {
    let newBytes = try checkedBytes(of: new, at: path)
    guard let addition = value.add(new, at: path.tokens) else { throw path.missing }
    switch addition {
    case .replaced(let old): bytes += newBytes - old.textBytes
    case .element(_, let count): bytes += newBytes + (count > 1 ? 1 : 0)
    case .newMember(let count): bytes += path.keyBytes + newBytes + (count > 1 ? 1 : 0)
    }
    return addition
  }

  private mutating func remove(
    at path: JSONPointer
  ) throws(JSONError) -> SharedValue.Removal {
    guard let removal = value.remove(at: path.tokens) else { throw path.missing }
    if path.tokens.isEmpty {
      bytes = value.textBytes
    } else {
      let key = removal.isElement ? 0 : path.keyBytes
      bytes -= key + removal.value.textBytes + (removal.left > 0 ? 1 : 0)
    }
    return removal
  }

  private func value(at path: JSONPointer) throws(JSONError) -> SharedValue {
    guard let value = value[path.tokens[...]] else { throw path.missing }
    return value
  }

  /// Checks that a value does not nest too deep at its path.
  ///
  /// - Returns: The length of the value as compact text, in bytes.
  private func checkedBytes(
    of new: SharedValue, at path: JSONPointer
  ) throws(JSONError) -> Int {
    let bytes = new.textBytes
    let maximum = JSONLimits().maximumDepth
    // Each level has two brackets.
    guard path.tokens.count + bytes / 2 <= maximum || path.tokens.count + new.depth <= maximum
    else { throw JSONError(.depth, "the result nests deeper than \(maximum)") }
    return bytes
  }
}

extension JSONPointer {
  /// The bytes of the last key and its colon.
  fileprivate var keyBytes: Int { (tokens.last?.textBytes ?? 0) + 1 }

  fileprivate var parent: JSONPointer { JSONPointer(Array(tokens.dropLast())) }

  /// The error for a path that does not exist.
  fileprivate var missing: JSONError {
    JSONError(.pointer, "there is no value at \(description.quoted())")
  }
}
