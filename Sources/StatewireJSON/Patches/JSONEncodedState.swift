// SPDX-License-Identifier: Apache-2.0

/// A value as encoded text, kept in order to be compared with the next one.
///
/// Parts that know their own differences stand aside: the text has `null` in their places. So what
/// it costs to publish a state follows from the rest of it and from what has changed in those parts.
public struct JSONEncodedState: Sendable {
  private var text: [UInt8]
  /// In the order of their offsets.
  private var leaves: [JSONLeaf]
  /// The paths of the leaves as pointers, once they have been wanted; empty before.
  private var leafPaths: [[UInt8]] = []
  /// What `JSONOutlined` calls this text; 0 where it has no name.
  private var outline: UInt8 = 0

  /// Encodes a value.
  ///
  /// A type that writes itself must not write a key twice in one object, and must write JSON.
  public init<T: Encodable>(_ value: T) throws(JSONError) {
    var writer = JSONWriter()
    writer.leaves = []
    try JSON.write(value, to: &writer)
    self.init(writer)
  }

  /// Encodes a value of a type that it is known of how it is written.
  public init<T: Encodable>(_ value: T, by encoding: JSONEncoding<T>) throws(JSONError) {
    var writer = JSONWriter(reserving: 128)
    writer.leaves = []
    try encoding.write(value, to: &writer)
    self.init(writer)
  }

  /// Encodes a value that writes itself.
  public init<T: JSONWritable>(writing value: T) {
    var writer = JSONWriter()
    writer.leaves = []
    writer.value(value)
    self.init(writer)
  }

  private init(_ writer: borrowing JSONWriter) {
    text = writer.bytes()
    leaves = writer.leaves ?? []
  }

  /// Whether writing it takes so long that others had better not wait for it.
  public var isLarge: Bool { expectedBytes > Self.largeBytes }

  /// About how long its text is.
  /// - Units: bytes.
  public var expectedBytes: Int {
    text.count + leaves.reduce(0) { $0 + $1.value.expectedBytes }
  }

  /// How long its text is without the parts that stand aside and are counted in another way.
  public var textBytes: Int { leaves.reduce(text.count) { $0 + $1.value.textBytes } }

  /// What is longer takes a millisecond or more to write.
  public static var largeBytes: Int { 512 << 10 }

  /// The whole value as JSON text.
  ///
  /// - Complexity: O(length).
  package var wholeText: [UInt8] {
    var writer = JSONWriter(reserving: expectedBytes)
    write(to: &writer)
    return writer.bytes()
  }

  /// Writes the whole value, the parts that stood aside included.
  public func write(to writer: inout JSONWriter) {
    text.withUnsafeBytes { leaves.write($0, 0..<$0.count, to: &writer) }
  }

  /// What it takes to compare this state with a later one by `isSame(as:)`.
  ///
  /// - Cost: counts a reference; nothing is copied unless the text changes.
  public var mark: Mark {
    let isNamed = leaves.contains { $0.value.version != nil }
    return Mark(
      text: text, version: leaves.first?.value.version, parts: leaves.count,
      leaves: isNamed ? [] : leaves)
  }

  /// A state by its text and the version of the part that stands aside, or parts without one.
  public struct Mark: Sendable {
    fileprivate let text: [UInt8]
    fileprivate let version: UInt64?
    fileprivate let parts: Int
    fileprivate let leaves: [JSONLeaf]
  }

  /// Whether this is the same data as a state before it, so that a patch between them is empty.
  ///
  /// A part that stands aside and has a version is the same if its version is, so one that was changed and
  /// changed back is not. Of several parts of which some have a version nothing is known.
  public func isSame(as mark: Mark) -> Bool {
    guard leaves.count == mark.parts else { return false }
    if leaves.count == 1, let version = leaves[0].value.version {
      return version == mark.version && text == mark.text
    }
    guard leaves.count == mark.leaves.count else { return false }
    if leaves.isEmpty, text == mark.text { return true }
    var patch = JSONPatchWriter()
    var before = self
    before.text = mark.text
    before.leaves = mark.leaves
    before.advance(to: self, writing: &patch)
    return patch.isEmpty
  }

  /// Brings `self`, which is what the other side holds, to `new`, and writes the operations that do
  /// the same there, at the patch's current path; none, if both are the same data.
  ///
  /// Parts that stand aside are brought forward, in a way of their own; see `JSONDifferencing`. The owner
  /// of the value that `new` was made of may go on to change it.
  public mutating func advance(
    to new: consuming JSONEncodedState, writing patch: inout JSONPatchWriter
  ) {
    if leaves.isEmpty, new.leaves.isEmpty, hasSameText(as: new) { return }
    let brought = new.text.withUnsafeBytes { bringLeaves(to: $0, new.leaves, &patch) }
    self = new
    leaves = brought
  }

  /// Writes the difference to a new text.
  /// - Returns: The leaves of that text: those that are held, brought forward, or new ones.
  private mutating func bringLeaves(
    to newText: UnsafeRawBufferPointer, _ newLeaves: [JSONLeaf], _ patch: inout JSONPatchWriter
  ) -> [JSONLeaf] {
    var held: [JSONLeaf] = []
    swap(&held, &leaves)
    return text.withUnsafeBytes { oldText in
      var difference = JSONDifference(from: oldText, to: newText, newLeaves)
      // Moved and not copied, so that the leaves are changed in place.
      swap(&difference.oldLeaves, &held)
      difference.write(to: &patch)
      return difference.leaves
    }
  }

  /// Brings `self` to a value, as `advance(to:writing:)` does to an encoded one.
  ///
  /// - Parameters:
  ///   - value: The value to encode.
  ///   - encoding: How.
  ///   - writer: What is kept from one call to the next, so that nothing is allocated.
  ///   - patch: Where the operations are written.
  /// - Throws: `JSONError` if it cannot be encoded; nothing has changed then.
  public mutating func advance<T: Encodable>(
    to value: T, by encoding: JSONEncoding<T>, using writer: inout JSONWriter,
    writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    if writer.leaves == nil { writer.leaves = [] }
    writer.removeAll()
    do throws(JSONError) {
      try encoding.write(value, to: &writer)
    } catch {
      writer.removeAll()
      throw error
    }
    // A list that has changed, with all around it as it was: nothing needs to be read.
    if !advanceLeaves(to: writer, &patch) {
      let newLeaves = writer.leaves ?? []
      writer.withBytes { newText in
        leaves = bringLeaves(to: newText, newLeaves, &patch)
        take(newText)
      }
      leafPaths.removeAll()
      outline = 0
    }
    // What stood aside may be this state's own now, which is brought forward in place where nobody else has
    // it.
    writer.removeAll()
  }

  /// The same for a value that says what it is made of.
  public mutating func advance<T: Encodable & JSONOutlined>(
    toOutlined value: T, by encoding: JSONEncoding<T>, using writer: inout JSONWriter,
    writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    #if FUZZING
      if FastPaths.areOff {
        return try advance(to: value, by: encoding, using: &writer, writing: &patch)
      }
    #endif
    let new = value.outline
    if outline > 0, new == outline {
      findPaths()
      patch.enter(pointer: leafPaths[0])
      let isBrought = value.bringPart(&leaves[0].value, writing: &patch)
      patch.leave()
      if isBrought { return }
    }
    try advance(to: value, by: encoding, using: &writer, writing: &patch)
    outline = leaves.count == 1 ? new : 0
  }

  /// - Returns: Whether the text is the same, so that only leaves can differ.
  private mutating func advanceLeaves(
    to new: borrowing JSONWriter, _ patch: inout JSONPatchWriter
  ) -> Bool {
    guard let values = new.leaves, values.count == leaves.count,
      new.withBytes({ new in text.withUnsafeBytes { $0.hasSameBytes(as: new) } })
    else { return false }
    for index in leaves.indices where leaves[index].offset != values[index].offset { return false }
    findPaths()
    for index in leaves.indices {
      patch.enter(pointer: leafPaths[index])
      if !leaves[index].value.advance(to: values[index].value, writing: &patch) {
        patch.replace { values[index].value.write(to: &$0) }
        leaves[index].value = values[index].value
      }
      patch.leave()
    }
    return true
  }

  /// Holds a text where the one before stood, if there is room for it and not much more.
  private mutating func take(_ newText: UnsafeRawBufferPointer) {
    guard newText.count <= text.capacity, text.capacity <= 4 * max(newText.count, 64) else {
      text = Array(newText)
      return
    }
    text.removeAll(keepingCapacity: true)
    text.append(contentsOf: newText)
  }

  private mutating func findPaths() {
    guard leafPaths.isEmpty, !leaves.isEmpty else { return }
    leafPaths = text.withUnsafeBytes { text in
      var paths = PathSearch()
      return leaves.map { JSONPatchWriter.pointer(paths.path(to: $0.offset, in: text)) }
    }
  }

  private func hasSameText(as other: borrowing JSONEncodedState) -> Bool {
    text.withUnsafeBytes { own in other.text.withUnsafeBytes { own.hasSameBytes(as: $0) } }
  }
}

extension [JSONLeaf] {
  /// The leaves whose places lie in a range of the text.
  func range(in range: Range<Int>) -> Range<Int> {
    if isEmpty { return 0..<0 }
    return first(from: range.lowerBound)..<first(from: range.upperBound)
  }

  private func first(from offset: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].offset < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Writes the value of a range of their text, with the leaves in their places.
  func write(
    _ text: UnsafeRawBufferPointer, _ range: Range<Int>, to writer: inout JSONWriter
  ) {
    writer.separate()
    var start = range.lowerBound
    for leaf in self[self.range(in: range)] {
      writer.raw(text.part(start..<leaf.offset))
      leaf.value.write(to: &writer)
      start = leaf.offset + "null".utf8.count
    }
    writer.append(text.part(start..<range.upperBound))
    writer.needsComma = true
  }
}

// MARK: - Trees

extension JSONPatch {
  /// The operations that lead from one document to another; none if they are the same data.
  ///
  /// The documents are compared as text, by what compares states: there is one way to do it.
  public static func difference(from old: JSONValue, to new: JSONValue) -> JSONPatch {
    var patch = JSONPatchWriter()
    var state = JSONEncodedState(writing: old)
    state.advance(to: JSONEncodedState(writing: new), writing: &patch)
    let text = patch.bytes()
    do {
      return try JSONPatch(JSONValue(parsing: text, limits: JSONLimits(maximumDepth: .max)))
    } catch {
      assertionFailure("the patch writer writes patches: \(error)")
      return JSONPatch([.replace(JSONPointer([]), new)])
    }
  }
}
