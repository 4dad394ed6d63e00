// SPDX-License-Identifier: Apache-2.0

/// A writer of JSON Patches (RFC 6902) that writes text directly.
///
/// The writer has a current path, which `enter` and `leave` change. Every operation is about the
/// value at that path or, if an index is given, about an element of the array at that path.
public struct JSONPatchWriter: ~Copyable {
  private var text: JSONWriter
  /// The current path as it is written: a JSON Pointer, escaped for a JSON string.
  private var path: JSONWriter
  /// The length of the path before each `enter`, in bytes.
  private var levels: [Int] = []
  /// The number of operations written.
  public private(set) var count = 0
  /// True if values are omitted, for callers that need only the number of operations. The text is
  /// then not a valid patch.
  public var leavesOutValues = false

  /// Creates a patch without operations; the current path is the root of the document.
  ///
  /// - Parameter capacity: The initial capacity in bytes.
  public init(reserving capacity: Int = 0) {
    text = JSONWriter(reserving: capacity)
    path = JSONWriter(reserving: 0)
  }

  /// True if no operation has been written.
  public var isEmpty: Bool { count == 0 }
}

// MARK: - The path

extension JSONPatchWriter {
  /// Appends a key to the current path.
  public mutating func enter(_ key: StaticString) {
    key.withUTF8Buffer { enter(key: UnsafeRawBufferPointer($0)) }
  }

  /// Appends a key to the current path.
  public mutating func enter(_ key: String) {
    key.withUTF8Bytes { enter(key: $0) }
  }

  /// Appends an array index to the current path.
  public mutating func enter(index: Int) {
    levels.append(path.count)
    path.raw(byte: UInt8(ascii: "/"))
    path.value(index)
  }

  mutating func enter(_ element: JSONPathElement) {
    switch element {
    case .key(let key): enter(key)
    case .index(let index): enter(index: index)
    }
  }

  /// Appends a pointer to the current path as one step; see `pointer`.
  mutating func enter(pointer: [UInt8]) {
    levels.append(path.count)
    path.raw(pointer)
  }

  /// Returns a path as it is written in a patch.
  static func pointer(_ path: [JSONPathElement]) -> [UInt8] {
    var patch = JSONPatchWriter()
    for element in path { patch.enter(element) }
    return patch.path.bytes()
  }

  /// Removes what the last `enter` appended to the current path.
  ///
  /// - Precondition: Every call matches an earlier `enter`.
  public mutating func leave() {
    guard let count = levels.popLast() else { preconditionFailure("leave() without enter()") }
    path.truncate(to: count)
  }

  mutating func enter(key: UnsafeRawBufferPointer) {
    levels.append(path.count)
    path.raw(byte: UInt8(ascii: "/"))
    path.token(key)
  }
}

// MARK: - Operations on the value at the current path

extension JSONPatchWriter {
  /// Replaces the value at the current path; `body` writes exactly one value.
  public mutating func replace(_ body: (inout JSONWriter) -> Void) {
    begin("{\"op\":\"replace\",\"path\":\"")
    endPath()
    write(body)
  }

  /// Adds a member that does not exist at the current path; `body` writes exactly one value.
  public mutating func add(_ body: (inout JSONWriter) -> Void) {
    begin("{\"op\":\"add\",\"path\":\"")
    endPath()
    write(body)
  }

  /// Removes the value at the current path.
  public mutating func remove() {
    begin("{\"op\":\"remove\",\"path\":\"")
    endPath()
    text.raw("}")
  }
}

// MARK: - Operations on elements of the array at the current path

extension JSONPatchWriter {
  /// Inserts an element before the one at an index; `body` writes exactly one value.
  public mutating func add(at index: Int, _ body: (inout JSONWriter) -> Void) {
    begin("{\"op\":\"add\",\"path\":\"")
    endPath(index)
    write(body)
  }

  /// Replaces an element; `body` writes exactly one value.
  public mutating func replace(at index: Int, _ body: (inout JSONWriter) -> Void) {
    begin("{\"op\":\"replace\",\"path\":\"")
    endPath(index)
    write(body)
  }

  /// Removes an element.
  public mutating func remove(at index: Int) {
    begin("{\"op\":\"remove\",\"path\":\"")
    endPath(index)
    text.raw("}")
  }

  /// Moves an element; `to` is its index after it has been removed.
  public mutating func move(from: Int, to: Int) {
    begin("{\"op\":\"move\",\"from\":\"")
    endPath(from)
    text.raw(",\"path\":\"")
    path.withBytes { text.raw($0) }
    endPath(to)
    text.raw("}")
  }
}

// MARK: - The text

extension JSONPatchWriter {
  /// Calls `body` with the patch, a compact JSON array; more operations may be written afterwards.
  public mutating func withBytes<Result: ~Copyable, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if count == 0 { text.raw("[") }
    text.raw("]")
    defer { text.truncate(to: count == 0 ? 0 : text.count - 1) }
    return try text.withBytes(body)
  }

  /// Returns a copy of the patch, a compact JSON array.
  public mutating func bytes() -> [UInt8] {
    withBytes { bytes in [UInt8](bytes) }
  }

  /// Removes all operations and sets the current path to the root.
  public mutating func removeAll(keepingCapacity: Bool = true) {
    text.removeAll(keepingCapacity: keepingCapacity)
    path.removeAll(keepingCapacity: true)
    if !levels.isEmpty { levels.removeAll(keepingCapacity: true) }
    count = 0
  }

  /// A position in the patch, together with the current path.
  public struct Mark: Sendable {
    fileprivate let bytes: Int
    fileprivate let depth: Int
    let count: Int
  }

  /// The current position in the patch.
  public var mark: Mark { Mark(bytes: text.count, depth: levels.count, count: count) }

  /// Removes all operations since a mark and restores the path that was current at that mark.
  public mutating func truncate(to mark: Mark) {
    text.truncate(to: mark.bytes)
    while levels.count > mark.depth { leave() }
    count = mark.count
  }

  /// Returns the number of bytes written since a mark.
  package func bytes(since mark: Mark) -> Int { text.count - mark.bytes }

  /// The number of bytes of an operation that replaces the current value, without the value.
  package var overhead: Int { path.count + 36 }
}

// MARK: - Operations of a patch

extension JSONPatchWriter {
  /// Writes an operation whose paths begin at the current path.
  ///
  /// - Precondition: It is not `copy` or `test`, and a `move` is within one array.
  public mutating func write(_ operation: JSONPatch.Operation) {
    switch operation {
    case .add(let path, let value): at(path.tokens[...]) { $0.add { $0.value(value) } }
    case .replace(let path, let value): at(path.tokens[...]) { $0.replace { $0.value(value) } }
    case .remove(let path): at(path.tokens[...]) { $0.remove() }
    case .move(let from, let to):
      guard let from = from.tokens.last.flatMap({ Int($0) }),
        let index = to.tokens.last.flatMap({ Int($0) })
      else {
        // Writing another operation would give clients another state.
        preconditionFailure("a move between members")
      }
      at(to.tokens.dropLast()) { $0.move(from: from, to: index) }
    case .copy, .test:
      // As above: clients do not know these operations.
      preconditionFailure("an operation that clients do not receive")
    }
  }

  private mutating func at(_ path: ArraySlice<String>, _ body: (inout JSONPatchWriter) -> Void) {
    for token in path { enter(token) }
    body(&self)
    for _ in path { leave() }
  }
}

// MARK: - Parts of operations

extension JSONPatchWriter {
  /// Starts an operation, up to and including the current path.
  private mutating func begin(_ start: StaticString) {
    text.raw(byte: count == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
    text.raw(start)
    path.withBytes { text.raw($0) }
    count += 1
  }

  private mutating func endPath() {
    text.raw("\"")
  }

  private mutating func endPath(_ index: Int) {
    text.raw("/")
    text.value(index)
    text.raw("\"")
  }

  private mutating func write(_ body: (inout JSONWriter) -> Void) {
    if leavesOutValues { return }
    text.raw(",\"value\":")
    body(&text)
    text.raw("}")
  }
}

extension JSONWriter {
  /// Writes a reference token: `~` and `/` escaped for the pointer, the rest for a JSON string.
  fileprivate mutating func token(_ key: UnsafeRawBufferPointer) {
    var start = 0
    func isSpecial(_ byte: UInt8) -> Bool {
      byte == UInt8(ascii: "~") || byte == UInt8(ascii: "/")
    }
    for offset in 0..<key.count where isSpecial(key[offset]) {
      contents(utf8: key.part(start..<offset))
      start = offset + 1
      raw(key[offset] == UInt8(ascii: "~") ? "~0" : "~1")
    }
    contents(utf8: key.part(start..<key.count))
  }
}
