// SPDX-License-Identifier: Apache-2.0

/// An encoded value, kept in order to be compared with the next one.
///
/// Parts that compute their own differences are kept as leaves (`JSONDifferencing`); the text has
/// `null` at their positions. The cost of publishing a state therefore depends on the length of the
/// other parts and on the changes in the leaves.
public struct JSONEncodedState: Sendable {
  private var text: [UInt8]
  /// Sorted by their offsets.
  private var leaves: [JSONLeaf]
  /// The value of `IncrementallyDiffable.layout` for this text; 0 if it has none.
  private var layout: UInt8 = 0

  /// Encodes a value.
  ///
  /// A type that writes itself must not write a key twice in one object, and must write valid JSON.
  ///
  /// - Throws: The errors of `JSON.encode`.
  public init<T: Encodable>(_ value: T) throws(JSONError) {
    var writer = JSONWriter()
    writer.leaves = []
    try JSON.write(value, to: &writer)
    self.init(writer)
  }

  /// Encodes a value of a type whose encoding has been determined before.
  ///
  /// - Throws: The errors of `JSON.encode`.
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

  /// True if writing the state takes so long that it should be offloaded: longer than `largeBytes`.
  public var isLarge: Bool { expectedBytes > Self.largeBytes }

  /// The approximate length of its text, including the leaves.
  ///
  /// - Units: bytes.
  public var expectedBytes: Int {
    text.count + leaves.reduce(0) { $0 + $1.value.expectedBytes }
  }

  /// The length of its text without the leaves whose memory is accounted in another way.
  ///
  /// - Units: bytes.
  public var textBytes: Int { leaves.reduce(text.count) { $0 + $1.value.textBytes } }

  /// The length above which writing takes a millisecond or more: 512 KiB.
  ///
  /// - Units: bytes.
  public static var largeBytes: Int { 512 << 10 }

  /// The whole value as JSON text, including the leaves.
  ///
  /// - Complexity: O(length).
  package var wholeText: [UInt8] {
    var writer = JSONWriter(reserving: expectedBytes)
    write(to: &writer)
    return writer.bytes()
  }

  /// Writes the whole value, including the leaves.
  ///
  /// - Complexity: O(length).
  public func write(to writer: inout JSONWriter) {
    text.withUnsafeBytes { leaves.write($0, 0..<$0.count, to: &writer) }
  }

  /// Returns a mark with which a later state can be compared by `isSame(as:)`.
  ///
  /// - Parameter keepingValues: True to keep the values of leaves if all are persistent, so that their
  ///   data is compared; false to compare the versions of those that have versions.
  /// - Complexity: O(number of leaves); retains the text, which is copied only when the state's
  ///   text changes, and the values.
  public func mark(keepingValues: Bool = false) -> Mark {
    let areKept = leaves.allSatisfy {
      $0.value.isPersistent && (keepingValues || $0.value.version == nil)
    }
    return Mark(
      text: text, version: leaves.first?.value.version, parts: leaves.count,
      leaves: areKept ? leaves : [])
  }

  /// A state represented by its text, and by the version of its leaf, its leaves, or both.
  ///
  /// A class, because few states have a mark at a time, and a store needs a place for one.
  public final class Mark: Sendable {
    fileprivate let text: [UInt8]
    fileprivate let version: UInt64?
    fileprivate let parts: Int
    fileprivate let leaves: [JSONLeaf]

    fileprivate init(text: [UInt8], version: UInt64?, parts: Int, leaves: [JSONLeaf]) {
      self.text = text
      self.version = version
      self.parts = parts
      self.leaves = leaves
    }
  }

  /// Returns true if this is the same data as an earlier state, so that a patch between them is
  /// empty.
  ///
  /// A leaf whose value was not kept is the same if its version is the same; a leaf that was changed
  /// and changed back is therefore not the same. Returns false for several leaves that were not kept.
  public func isSame(as mark: Mark) -> Bool {
    guard leaves.count == mark.parts else { return false }
    if leaves.count == 1, let version = leaves[0].value.version {
      if version == mark.version { return text == mark.text }
      if mark.leaves.isEmpty { return false }
    }
    guard leaves.count == mark.leaves.count else { return false }
    if text == mark.text, leaves.elementsEqual(mark.leaves, by: { $0.offset == $1.offset }) {
      return leaves.elementsEqual(mark.leaves) { $0.value.isSame(as: $1.value) }
    }
    var patch = JSONPatchWriter()
    var before = self
    before.text = mark.text
    before.leaves = mark.leaves
    before.advance(to: self, writing: &patch)
    return patch.isEmpty
  }

  /// Updates `self` to `new` and writes the operations that make the same change, at the patch's
  /// current path. `self` is the state that the receiver of the patches has. No operation is
  /// written if both are the same data.
  ///
  /// Leaves are updated by their own method; see `JSONDifferencing`. The owner of the value from
  /// which `new` was encoded may continue to change that value.
  public mutating func advance(
    to new: consuming JSONEncodedState, writing patch: inout JSONPatchWriter
  ) {
    if leaves.isEmpty, new.leaves.isEmpty, hasSameText(as: new) { return }
    let newLeaves = new.text.withUnsafeBytes { advanceLeafValues(to: $0, new.leaves, &patch) }
    self = new
    leaves = newLeaves
  }

  /// Writes the difference to a new text.
  ///
  /// - Returns: The leaves of that text: existing leaves that were updated, or new leaves.
  private mutating func advanceLeafValues(
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

  /// Updates `self` to a value, as `advance(to:writing:)` does for an encoded state.
  ///
  /// - Parameters:
  ///   - value: The value to encode.
  ///   - encoding: The encoding of its type.
  ///   - writer: A writer that is reused from one call to the next, so that no memory is allocated.
  ///   - patch: The writer of the operations.
  /// - Throws: `JSONError` if the value cannot be encoded; nothing has changed then.
  public mutating func advance<T: Encodable>(
    to value: T, by encoding: JSONEncoding<T>, using writer: inout JSONWriter,
    writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    if writer.leaves == nil { writer.leaves = [] }
    writer.removeAll()
    do throws(JSONError) {
      if let members = encoding.members {
        try write(value, by: encoding, keeping: members, to: &writer)
      } else {
        try encoding.write(value, to: &writer)
      }
    } catch {
      writer.removeAll()
      throw error
    }
    if let members = encoding.members, advanceMembers(members, to: writer, &patch) { return }
    // If only a leaf has changed and the text is the same, no text has to be read.
    if !advanceLeaves(to: writer, &patch) {
      let newLeaves = writer.leaves ?? []
      writer.withBytes { newText in
        leaves = advanceLeafValues(to: newText, newLeaves, &patch)
        take(newText)
      }
      layout = 0
    }
    // Releases the writer's leaves: this state may now be their only owner, and then updates them
    // in place.
    writer.removeAll()
  }

  /// Updates `self` to an incrementally diffable value: if its layout is unchanged, only the leaf
  /// is compared and no text is written.
  ///
  /// - Throws: `JSONError` if the value cannot be encoded; nothing has changed then.
  public mutating func advance<T: Encodable & IncrementallyDiffable>(
    toDiffable value: T, by encoding: JSONEncoding<T>, using writer: inout JSONWriter,
    writing patch: inout JSONPatchWriter
  ) throws(JSONError) {
    #if FUZZING
      if FastPaths.areOff {
        return try advance(to: value, by: encoding, using: &writer, writing: &patch)
      }
    #endif
    let new = value.layout
    if layout > 0, new == layout {
      findPaths()
      patch.enter(pointer: leaves[0].path ?? [])
      let isAdvanced = value.advancePart(&leaves[0].value, writing: &patch)
      patch.leave()
      if isAdvanced { return }
    }
    try advance(to: value, by: encoding, using: &writer, writing: &patch)
    layout = leaves.count == 1 ? new : 0
  }

  /// Writes a value; its members that are the same as in this state are copied from it.
  private func write<T: Encodable>(
    _ value: T, by encoding: JSONEncoding<T>, keeping members: EncodedMembers,
    to writer: inout JSONWriter
  ) throws(JSONError) {
    try text.withRawBytes { text throws(JSONError) in
      members.begin(after: text)
      do throws(JSONError) {
        try encoding.write(value, to: &writer)
      } catch {
        members.forget()
        throw error
      }
      members.end()
    }
  }

  /// Updates only the members that have changed.
  ///
  /// - Returns: False if there are leaves, or other parts of the text differ; nothing has changed
  ///   then.
  private mutating func advanceMembers(
    _ members: EncodedMembers, to new: borrowing JSONWriter, _ patch: inout JSONPatchWriter
  ) -> Bool {
    guard leaves.isEmpty, new.leaves?.isEmpty != false else { return false }
    return new.withBytes { new in
      let isAdvanced = text.withUnsafeBytes {
        members.writeDifference(from: $0, to: new, &patch)
      }
      if isAdvanced { take(new) }
      return isAdvanced
    }
  }

  /// Updates only the leaves.
  ///
  /// - Returns: False if the text or the positions of the leaves differ; nothing has changed then.
  private mutating func advanceLeaves(
    to new: borrowing JSONWriter, _ patch: inout JSONPatchWriter
  ) -> Bool {
    guard let values = new.leaves, values.count == leaves.count,
      new.withBytes({ new in text.withUnsafeBytes { $0.hasSameBytes(as: new) } })
    else { return false }
    for index in leaves.indices where leaves[index].offset != values[index].offset { return false }
    findPaths()
    for index in leaves.indices {
      patch.enter(pointer: leaves[index].path ?? [])
      if !leaves[index].value.advance(to: values[index].value, writing: &patch) {
        patch.replace { values[index].value.write(to: &$0) }
        leaves[index].value = values[index].value
      }
      patch.leave()
    }
    return true
  }

  /// Stores a text in the memory of the previous one if it fits and does not waste more than three
  /// quarters of it.
  private mutating func take(_ newText: UnsafeRawBufferPointer) {
    guard newText.count <= text.capacity, text.capacity <= 4 * max(newText.count, 64) else {
      text = Array(newText)
      return
    }
    text.removeAll(keepingCapacity: true)
    text.append(contentsOf: newText)
  }

  private mutating func findPaths() {
    // Read in place: `first` would copy the leaf.
    if leaves.isEmpty || leaves[0].path != nil { return }
    leaves = text.withUnsafeBytes { text in
      var paths = PathSearch()
      return leaves.map { leaf in
        var leaf = leaf
        leaf.path = JSONPatchWriter.pointer(paths.path(to: leaf.offset, in: text))
        return leaf
      }
    }
  }

  private func hasSameText(as other: borrowing JSONEncodedState) -> Bool {
    text.withUnsafeBytes { own in other.text.withUnsafeBytes { own.hasSameBytes(as: $0) } }
  }
}

extension [JSONLeaf] {
  /// Returns the indices of the leaves whose positions lie in a range of the text.
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

  /// Writes the value in a range of their text, with the leaves at their positions.
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
  /// Returns the operations that change one document to another; none if they are the same data.
  ///
  /// The documents are compared as texts by the code that compares states, so there is only one
  /// implementation.
  public static func difference(
    from old: some JSONWritable, to new: some JSONWritable
  ) -> JSONPatch {
    var patch = JSONPatchWriter()
    var state = JSONEncodedState(writing: old)
    state.advance(to: JSONEncodedState(writing: new), writing: &patch)
    let text = patch.bytes()
    do {
      return try JSON.decode(JSONPatch.self, from: text, limits: JSONLimits(maximumDepth: .max))
    } catch {
      assertionFailure("the patch writer wrote an invalid patch: \(error)")
      let whole = try? JSONValue(parsing: new.jsonBytes(), limits: JSONLimits(maximumDepth: .max))
      return JSONPatch([.replace(JSONPointer([]), whole ?? .null)])
    }
  }
}
