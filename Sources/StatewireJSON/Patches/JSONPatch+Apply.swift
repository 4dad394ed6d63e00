// SPDX-License-Identifier: Apache-2.0

extension JSONPatch {
  /// Returns the document that results from applying all operations.
  ///
  /// - Throws: `JSONError` with the code `pointer` if a path does not exist; `patch` if an
  ///   operation cannot be applied or a test fails; `depth` or `limit` if the result would exceed
  ///   the limits. The error's path begins with the operation's index and is a path in the patch,
  ///   not in the document.
  public func apply(
    to document: JSONValue, limits: JSONLimits = .init()
  ) throws(JSONError) -> JSONValue {
    var document = document
    try change(&document, limits)
    return document
  }

  /// Applies all operations to a document in place, or none of them.
  ///
  /// If there is only one operation and the document is not shared, nothing is copied. After a
  /// failure the document is the same data, but a member that a failed move had removed is now the
  /// last member of its object.
  ///
  /// - Throws: The errors of `apply(to:limits:)`.
  public func apply(
    inPlace document: inout JSONValue, limits: JSONLimits = .init()
  ) throws(JSONError) {
    // A failed operation changes nothing, but the operations before it would have to be undone.
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
      guard let value = document[from] else { throw from.missing("from") }
      copied += try value.check(under: path, limits, upTo: limits.maximumCopiedValues - copied)
      try document.add(value, at: path)
    case .test(let path, let expected):
      guard let value = document[path] else { throw path.missing("path") }
      guard value == expected else { throw JSONError(.patch, "the test failed") }
    }
  }
}

extension JSONPointer {
  /// Returns the error for a pointer to a value that does not exist.
  fileprivate func missing(_ member: String) -> JSONError {
    JSONError(.pointer, "there is no value at \(description.quoted())", path: [.key(member)])
  }

  package func isProperPrefix(of other: JSONPointer) -> Bool {
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
    guard isDone else { throw path.missing("path") }
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
    guard isDone, let removed else { throw path.missing(member) }
    return removed
  }

  fileprivate mutating func replace(
    at path: JSONPointer, with value: JSONValue
  ) throws(JSONError) {
    let isDone = change(at: path.tokens[...]) { target in
      target = value
      return true
    }
    guard isDone else { throw path.missing("path") }
  }

  fileprivate mutating func move(
    from: JSONPointer, to path: JSONPointer, _ limits: JSONLimits
  ) throws(JSONError) {
    guard !from.isProperPrefix(of: path) else {
      throw JSONError(.patch, "a value cannot be moved into itself", path: [.key("path")])
    }
    guard from != path else {
      if self[from] == nil { throw from.missing("from") }
      return
    }
    let value = try remove(at: from, "from")
    do {
      try value.check(under: path, limits)
      try add(value, at: path)
    } catch {
      // The value can always be added again at its old position.
      try add(value, at: from)
      throw error
    }
  }

  /// Changes the value at a path in place.
  ///
  /// The function recurses once per token that exists, so never deeper than the document.
  ///
  /// - Returns: The result of `body`; false if the path does not exist.
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

  /// Changes members or elements in place. They are removed from the value during the change, so
  /// they are not shared and nothing is copied.
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

  // These are functions because a `switch` over the value would retain it, so that the change would
  // copy it.

  /// Removes and returns the members and leaves null; returns nil if this is not an object.
  private mutating func takeObject() -> JSONObject? {
    guard case .object(let members) = self else { return nil }
    self = .null
    return members
  }

  /// Removes and returns the elements and leaves null; returns nil if this is not an array.
  private mutating func takeArray() -> [JSONValue]? {
    guard case .array(let elements) = self else { return nil }
    self = .null
    return elements
  }

  /// Removes and returns the value and leaves null.
  private mutating func take() -> JSONValue {
    var taken = JSONValue.null
    swap(&taken, &self)
    return taken
  }

  // MARK: Limits

  /// Checks that a value at a path nests no deeper than allowed.
  ///
  /// - Returns: The number of values that it contains, including itself.
  /// - Throws: `depth`, or `limit` if there are more values than `budget`.
  @discardableResult
  fileprivate func check(
    under path: JSONPointer, _ limits: JSONLimits, upTo budget: Int = .max
  ) throws(JSONError) -> Int {
    var count = 0
    guard measure(depth: limits.maximumDepth - path.tokens.count, count: &count, budget) else {
      throw count > budget
        ? JSONError(.limit, "the copies contain more than \(limits.maximumCopiedValues) values")
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
