// SPDX-License-Identifier: Apache-2.0

extension JSONPatch {
  /// The document that the operations lead to, all or nothing.
  ///
  /// - Throws: `pointer` where a path leads nowhere, `patch` where an operation does not apply or a
  ///   test fails, `depth` and `limit` where the result would go beyond the limits. The path begins
  ///   with the operation's index; the rest is a path in the patch, not in the document.
  public func apply(
    to document: JSONValue, limits: JSONLimits = .init()
  ) throws(JSONError) -> JSONValue {
    var document = document
    try change(&document, limits)
    return document
  }

  /// Changes a document in place, all or nothing; where nobody else holds it, and there is but one
  /// operation, nothing of it is copied. After a failure it is the same data; a member that a failed
  /// move took out stands last in its object then.
  ///
  /// - Throws: What `apply` throws.
  public func apply(
    inPlace document: inout JSONValue, limits: JSONLimits = .init()
  ) throws(JSONError) {
    // An operation that fails changes nothing; those before it would have to be taken back.
    if operations.count == 1 {
      try change(&document, limits)
    } else {
      document = try apply(to: document, limits: limits)
    }
  }

  private func change(_ document: inout JSONValue, _ limits: JSONLimits) throws(JSONError) {
    var copied = 0
    for (index, operation) in operations.enumerated() {
      do {
        try operation.apply(to: &document, copied: &copied, limits: limits)
      } catch {
        throw error.under(.index(index))
      }
    }
  }
}

extension JSONPatch.Operation {
  fileprivate func apply(
    to document: inout JSONValue, copied: inout Int, limits: JSONLimits
  ) throws(JSONError) {
    switch self {
    case .add(let path, let value):
      try value.check(under: path, limits)
      try document.add(value, at: path)
    case .remove(let path):
      _ = try document.remove(at: path, "path")
    case .replace(let path, let value):
      try value.check(under: path, limits)
      try document.replace(at: path, with: value)
    case .move(let from, let path):
      try document.move(from: from, to: path, limits)
    case .copy(let from, let path):
      guard let value = document[from] else { throw from.nowhere("from") }
      copied += try value.check(under: path, limits, upTo: limits.maximumCopiedValues - copied)
      try document.add(value, at: path)
    case .test(let path, let expected):
      guard let value = document[path] else { throw path.nowhere("path") }
      guard value == expected else { throw JSONError(.patch, "the test failed") }
    }
  }
}

extension JSONPointer {
  /// The error for a pointer that leads nowhere.
  fileprivate func nowhere(_ member: String) -> JSONError {
    JSONError(.pointer, "\(description.quoted()) leads nowhere", path: [.key(member)])
  }

  fileprivate func isProperPrefix(of other: JSONPointer) -> Bool {
    tokens.count < other.tokens.count
      && zip(tokens, other.tokens).allSatisfy { $0.hasSameBytes(as: $1) }
  }
}

// MARK: - The operations on a value

extension JSONValue {
  fileprivate mutating func add(_ value: JSONValue, at path: JSONPointer) throws(JSONError) {
    guard let last = path.tokens.last else {
      self = value
      return
    }
    let isDone = change(at: path.tokens.dropLast()) { parent in
      parent.changeObject { members in
        members[last] = value
        return true
      } orArray: { elements in
        let end = elements.count
        guard let index = last == "-" ? end : JSONPointer.index(last, count: end + 1) else {
          return false
        }
        elements.insert(value, at: index)
        return true
      }
    }
    guard isDone else { throw path.nowhere("path") }
  }

  fileprivate mutating func remove(
    at path: JSONPointer, _ member: String
  ) throws(JSONError) -> JSONValue {
    guard let last = path.tokens.last else { return take() }
    var removed: JSONValue?
    let isDone = change(at: path.tokens.dropLast()) { parent in
      parent.changeObject { members in
        removed = members.removeValue(forKey: last)
        return true
      } orArray: { elements in
        guard let index = JSONPointer.index(last, count: elements.count) else { return false }
        removed = elements.remove(at: index)
        return true
      }
    }
    guard isDone, let removed else { throw path.nowhere(member) }
    return removed
  }

  fileprivate mutating func replace(
    at path: JSONPointer, with value: JSONValue
  ) throws(JSONError) {
    let isDone = change(at: path.tokens[...]) { target in
      target = value
      return true
    }
    guard isDone else { throw path.nowhere("path") }
  }

  fileprivate mutating func move(
    from: JSONPointer, to path: JSONPointer, _ limits: JSONLimits
  ) throws(JSONError) {
    guard !from.isProperPrefix(of: path) else {
      throw JSONError(.patch, "a value cannot be moved into itself", path: [.key("path")])
    }
    guard from != path else {
      if self[from] == nil { throw from.nowhere("from") }
      return
    }
    let value = try remove(at: from, "from")
    do {
      try value.check(under: path, limits)
      try add(value, at: path)
    } catch {
      // Where it was it can be again.
      try add(value, at: from)
      throw error
    }
  }

  /// Goes down to a value and changes it in place.
  ///
  /// It recurses once per token that leads somewhere, so never deeper than the document.
  /// - Returns: What `body` returns; false if the way ends before.
  private mutating func change(
    at tokens: ArraySlice<String>, _ body: (inout JSONValue) -> Bool
  ) -> Bool {
    guard let token = tokens.first else { return body(&self) }
    return changeObject { members in
      members.change(token) { $0.change(at: tokens.dropFirst(), body) }
    } orArray: { elements in
      guard let index = JSONPointer.index(token, count: elements.count) else { return false }
      return elements[index].change(at: tokens.dropFirst(), body)
    }
  }

  /// Changes members or elements where they are: taken out meanwhile, they are nobody else's, and
  /// nothing is copied.
  private mutating func changeObject(
    _ changeMembers: (inout JSONObject) -> Bool, orArray changeElements: (inout [JSONValue]) -> Bool
  ) -> Bool {
    if var members = takeObject() {
      defer { self = .object(members) }
      return changeMembers(&members)
    }
    if var elements = takeArray() {
      defer { self = .array(elements) }
      return changeElements(&elements)
    }
    return false
  }

  // These are functions because a `switch` over the value would hold on to it, and so make a copy
  // of what is changed.

  /// The members, leaving null behind; nil if this is no object.
  private mutating func takeObject() -> JSONObject? {
    guard case .object(let members) = self else { return nil }
    self = .null
    return members
  }

  /// The elements, leaving null behind; nil if this is no array.
  private mutating func takeArray() -> [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    self = .null
    return elements
  }

  /// The value, leaving null behind.
  private mutating func take() -> JSONValue {
    var taken = JSONValue.null
    swap(&taken, &self)
    return taken
  }

  // MARK: Limits

  /// Makes sure that the value at the end of a path nests no deeper than allowed.
  /// - Returns: How many values it holds, itself included.
  @discardableResult
  fileprivate func check(
    under path: JSONPointer, _ limits: JSONLimits, upTo budget: Int = .max
  ) throws(JSONError) -> Int {
    var count = 0
    guard measure(depth: limits.maximumDepth - path.tokens.count, count: &count, budget) else {
      throw count > budget
        ? JSONError(.limit, "the copies hold more than \(limits.maximumCopiedValues) values")
        : JSONError(.depth, "the result nests deeper than \(limits.maximumDepth)")
    }
    return count
  }

  private func measure(depth: Int, count: inout Int, _ budget: Int) -> Bool {
    count += 1
    guard count <= budget else { return false }
    switch self {
    case .array(let elements):
      guard depth > 0 else { return false }
      for element in elements {
        guard element.measure(depth: depth - 1, count: &count, budget) else { return false }
      }
    case .object(let members):
      guard depth > 0 else { return false }
      for (_, member) in members {
        guard member.measure(depth: depth - 1, count: &count, budget) else { return false }
      }
    case .null, .bool, .number, .string:
      break
    }
    return true
  }
}
