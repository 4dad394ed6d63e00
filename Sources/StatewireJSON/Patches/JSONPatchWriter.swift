// SPDX-License-Identifier: Apache-2.0

/// Writes a JSON Patch (RFC 6902) as text, straight into bytes.
///
/// It keeps a current path, which `enter` and `leave` move; every operation is about the value there
/// or, where an index is given, about an element of the array there.
public struct JSONPatchWriter: ~Copyable {
  private var text: JSONWriter
  /// The current path as it stands in the text: a JSON Pointer, escaped for a JSON string.
  private var path: JSONWriter
  /// How long the path was before each `enter`.
  private var levels: [Int] = []
  /// How many operations have been written.
  public private(set) var count = 0
  /// Whether values are left out, where only the number of operations is of interest: then the text is no patch.
  public var leavesOutValues = false

  /// A patch without operations at the root of the document.
  public init(reserving capacity: Int = 0) {
    text = JSONWriter(reserving: capacity)
    path = JSONWriter(reserving: 0)
  }

  /// Whether no operation has been written.
  public var isEmpty: Bool { count == 0 }
}

// MARK: - The path

extension JSONPatchWriter {
  /// Goes into the member with a key.
  public mutating func enter(_ key: StaticString) {
    key.withUTF8Buffer { enter(key: UnsafeRawBufferPointer($0)) }
  }

  /// Goes into the member with a key.
  public mutating func enter(_ key: String) {
    key.withUTF8Bytes { enter(key: $0) }
  }

  /// Goes into the element at an index.
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

  /// Goes to where a pointer leads, as one step; see `pointer`.
  mutating func enter(pointer: [UInt8]) {
    levels.append(path.count)
    path.raw(pointer)
  }

  /// A path as it stands in a patch.
  static func pointer(_ path: [JSONPathElement]) -> [UInt8] {
    var patch = JSONPatchWriter()
    for element in path { patch.enter(element) }
    return patch.path.bytes()
  }

  /// Goes back to where the last `enter` came from.
  public mutating func leave() {
    guard let count = levels.popLast() else { preconditionFailure("nothing was entered") }
    path.truncate(to: count)
  }

  mutating func enter(key: UnsafeRawBufferPointer) {
    levels.append(path.count)
    path.raw(byte: UInt8(ascii: "/"))
    path.token(key)
  }
}

// MARK: - Operations on the value here

extension JSONPatchWriter {
  /// Replaces the value; `body` writes exactly one value.
  public mutating func replace(_ body: (inout JSONWriter) -> Void) {
    begin("{\"op\":\"replace\",\"path\":\"")
    endPath()
    write(body)
  }

  /// Adds the value, a member that was not there; `body` writes exactly one value.
  public mutating func add(_ body: (inout JSONWriter) -> Void) {
    begin("{\"op\":\"add\",\"path\":\"")
    endPath()
    write(body)
  }

  /// Removes the value.
  public mutating func remove() {
    begin("{\"op\":\"remove\",\"path\":\"")
    endPath()
    text.raw("}")
  }
}

// MARK: - Operations on elements of the array here

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

  /// Moves an element; `to` counts after it has been taken out.
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
  /// Calls `body` with the patch, a compact array; more operations may follow afterwards.
  public mutating func withBytes<Result: ~Copyable, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if count == 0 { text.raw("[") }
    text.raw("]")
    defer { text.truncate(to: count == 0 ? 0 : text.count - 1) }
    return try text.withBytes(body)
  }

  /// A copy of the patch, a compact array.
  public mutating func bytes() -> [UInt8] {
    withBytes { bytes in [UInt8](bytes) }
  }

  /// Starts over, at the root.
  public mutating func removeAll(keepingCapacity: Bool = true) {
    text.removeAll(keepingCapacity: keepingCapacity)
    path.removeAll(keepingCapacity: true)
    levels.removeAll(keepingCapacity: true)
    count = 0
  }

  /// A place in the patch that can be returned to, together with the path there.
  public struct Mark: Sendable {
    fileprivate let bytes: Int
    fileprivate let depth: Int
    let count: Int
  }

  /// This place in the patch.
  public var mark: Mark { Mark(bytes: text.count, depth: levels.count, count: count) }

  /// Takes back all operations since a mark, and leaves what has been entered since.
  public mutating func truncate(to mark: Mark) {
    text.truncate(to: mark.bytes)
    while levels.count > mark.depth { leave() }
    count = mark.count
  }

  /// How many bytes have been written since a mark.
  package func bytes(since mark: Mark) -> Int { text.count - mark.bytes }

  /// How many bytes replacing the value here takes beside the value.
  package var overhead: Int { path.count + 36 }
}

// MARK: - Pieces

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
