// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The application of a patch to a tree.
struct DocumentPatching {
  private(set) var value: DocumentValue
  /// The operations that clients know and that make the same change. A change that changes nothing is
  /// not among them.
  private(set) var change: [JSONPatch.Operation] = []
  /// The approximate length of the value as text.
  private(set) var bytes: Int
  /// The bytes that `copy` operations have added.
  private var copiedBytes = 0

  /// The most bytes that the `copy` operations of one patch add.
  private static let maximumCopiedBytes = 1 << 20

  init(_ value: DocumentValue, bytes: Int) { (self.value, self.bytes) = (value, bytes) }

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
      let new = DocumentValue(json)
      try check(new, at: path)
      guard let old = value.replace(at: path.tokens, with: new) else { throw path.missing }
      if old.isSame(as: json) { return }
      bytes += new.textBytes - old.textBytes
      change.append(operation)
    case .remove(let path):
      _ = try remove(at: path)
      change.append(operation)
    case .add(let path, let json): try add(DocumentValue(json), at: path, json)
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

  private mutating func add(
    _ new: DocumentValue, at path: JSONPointer, _ json: JSONValue
  ) throws(JSONError) {
    switch try insert(new, at: path) {
    case .replaced(let old):
      if !old.isSame(as: json) { change.append(.add(path, json)) }
    case .element(let index):
      let place =
        path.tokens.last == "-" ? JSONPointer(path.tokens.dropLast() + [String(index)]) : path
      change.append(.add(place, json))
    case .newMember: change.append(.add(path, json))
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
    let (moved, isElement) = try remove(at: from)
    // Clients know moves within an array.
    if isElement, from.tokens.dropLast() == path.tokens.dropLast(), path.tokens.last != "-" {
      _ = try insert(moved, at: path)
      change.append(operation)
    } else {
      change.append(.remove(from))
      try add(moved, at: path, moved.json)
    }
  }

  /// Adds a value; counts its bytes, a comma, and a key.
  private mutating func insert(
    _ new: DocumentValue, at path: JSONPointer
  ) throws(JSONError) -> DocumentValue.Place {
    try check(new, at: path)
    guard let place = value.add(new, at: path.tokens) else { throw path.missing }
    switch place {
    case .replaced(let old): bytes += new.textBytes - old.textBytes
    case .element: bytes += new.textBytes + 1
    case .newMember: bytes += new.textBytes + path.keyBytes
    }
    return place
  }

  private mutating func remove(
    at path: JSONPointer
  ) throws(JSONError) -> (value: DocumentValue, isElement: Bool) {
    guard let removed = value.remove(at: path.tokens) else { throw path.missing }
    bytes -= removed.value.textBytes + (removed.isElement ? 1 : path.keyBytes)
    return removed
  }

  private func value(at path: JSONPointer) throws(JSONError) -> DocumentValue {
    guard let value = value[path.tokens[...]] else { throw path.missing }
    return value
  }

  private func check(_ new: DocumentValue, at path: JSONPointer) throws(JSONError) {
    let maximum = JSONLimits().maximumDepth
    guard path.tokens.count + new.depth <= maximum else {
      throw JSONError(.depth, "the result nests deeper than \(maximum)")
    }
  }
}

extension JSONPointer {
  /// The bytes of the last key with its punctuation.
  fileprivate var keyBytes: Int { (tokens.last?.utf8.count ?? 0) + 4 }

  /// The error for a path that does not exist.
  fileprivate var missing: JSONError {
    JSONError(.pointer, "there is no value at \(description.quoted())")
  }
}
