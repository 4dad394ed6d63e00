// SPDX-License-Identifier: Apache-2.0

/// A comparison of two encoded states that reads both texts in lockstep and builds no tree.
///
/// The usual case, the same keys in the same order, costs one pass over the old text up to the last
/// difference. A value whose bytes are the same in both texts is skipped as a whole.
///
/// For every input, the patch and the work are bounded by the length of the texts:
/// - A container whose operations become longer than the container is replaced as a whole as soon
///   as that is detected (`Scope`). The patch is therefore at most as long as the new text and one
///   path.
/// - Nested containers are skipped again at each level until that has cost as much as one pass over
///   both texts. After that their ends are looked up (`ContainerEnds`).
/// - Bytes that are read, and operations that are removed again, are counted (`work`). Beyond a
///   multiple of the texts' length, containers are replaced without a comparison, and the new text
///   replaces the whole old text if operations would have to be removed.
struct JSONDifference {
  /// The depth from which values are replaced as a whole, so that recursion is bounded for every
  /// input.
  static let maximumDepth = 512
  /// The factor by which comparing bytes is faster than reading them, approximately.
  static let bytesComparedAtOnce = 32

  let old: UnsafeRawBufferPointer
  let new: UnsafeRawBufferPointer
  /// The leaves of the state that the receiver has; updated in place.
  var oldLeaves: [JSONLeaf] = []
  let newLeaves: [JSONLeaf]
  /// The leaves of the new text: old leaves that could be updated, and new leaves where that was
  /// not possible.
  private(set) var leaves: [JSONLeaf]
  /// The ends of the outermost values: the ends of the texts without trailing white space.
  private let ends: (old: Int, new: Int)
  /// The number of equal bytes at the end of both texts.
  private let suffix: Int
  /// True once everything after the current positions is known to be the same.
  var isDone = false
  private var depth = 0
  /// The number of bytes skipped, of operations removed again, and of the values that replaced
  /// them.
  var work = 0
  /// The number of bytes that leaves have written to the patch; leaves bound this number
  /// themselves.
  private var leafBytes = 0
  /// The length of both texts plus 256 bytes. Containers are no longer compared when `work` and the
  /// bytes written exceed four times this length. If `work` exceeds three times this length when
  /// the operations of a container are removed, the whole text is replaced.
  private let length: Int
  /// The position in the patch at which the operations begin.
  private var start: JSONPatchWriter.Mark?
  /// The ends of all containers, computed once `work` exceeds `length`.
  private var containers: (old: ContainerEnds, new: ContainerEnds)?

  init(
    from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer,
    _ newLeaves: [JSONLeaf]
  ) {
    self.old = old
    self.new = new
    self.newLeaves = newLeaves
    leaves = newLeaves
    ends = (old.endWithoutSpace, new.endWithoutSpace)
    suffix = old.commonSuffix(with: new)
    length = old.count + new.count + 256
  }

  /// Writes the operations that change the old text to the new text.
  mutating func write(to patch: inout JSONPatchWriter) {
    let start = patch.mark
    self.start = start
    var before = reader(of: old, at: 0)
    var after = reader(of: new, at: 0)
    do {
      try compare(&before, to: ends.old, &after, &patch)
    } catch {
      // Either the work exceeds its bound, or a type that writes itself has written text that is
      // not JSON. The new text is sent unchanged.
      replace(0..<new.count, since: start, &patch)
    }
  }

  /// Skips the next value. Once `work` exceeds `length`, a container costs only a binary search.
  @inline(__always)
  mutating func skip(
    _ reader: inout JSONReader, isOld: Bool
  ) throws(JSONError) -> Range<Int> {
    if work > length, let range = skipContainer(&reader, isOld: isOld) { return range }
    let range = try reader.skipValue()
    work += range.count
    return range
  }

  private mutating func skipContainer(_ reader: inout JSONReader, isOld: Bool) -> Range<Int>? {
    if containers == nil {
      containers = (ContainerEnds(old), ContainerEnds(new))
      work += length
    }
    let start = reader.nextValueOffset()
    guard let end = (isOld ? containers?.old : containers?.new)?.end(of: start) else { return nil }
    work += 16
    reader.skip(to: end)
    return start..<end
  }

  func reader(of text: UnsafeRawBufferPointer, at offset: Int) -> JSONReader {
    JSONReader(text, at: offset, limits: JSONLimits(maximumDepth: .max))
  }
}

// MARK: - Any value

extension JSONDifference {
  /// Compares the next values and skips them.
  ///
  /// - Parameter oldEnd: The end of the old value.
  mutating func compare(
    _ before: inout JSONReader, to oldEnd: Int, _ after: inout JSONReader,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) {
    depth += 1
    defer { depth -= 1 }
    let oldStart = before.nextValueOffset()
    switch (try before.peek(), try after.peek()) {
    case (.object, .object) where mayCompare(patch),
      (.array, .array) where mayCompare(patch):
      try compareContainers(&before, to: oldEnd, &after, &patch)
    default:
      before.skip(to: oldEnd)
      try compareScalars(oldStart..<oldEnd, skip(&after, isOld: false), &patch)
    }
  }

  /// Compares two objects or two arrays.
  ///
  /// - Throws: `JSONError` if the work exceeds its bound or a text is not JSON.
  mutating func compareContainers(
    _ before: inout JSONReader, to oldEnd: Int, _ after: inout JSONReader,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) {
    let start = after.nextValueOffset()
    let (beforeValue, afterValue) = (before, after)
    var scope = scope(from: start, oldEnd, patch)
    let isShort =
      try before.peek() == .object
      ? compareObjects(&before, &after, &scope, &patch)
      : compareArrays(&before, &after, &scope, &patch)
    if isShort, try !isTooLong(&scope, after, patch) { return }
    let range = start..<(try end(of: &scope, after))
    work += range.count + patch.bytes(since: scope.mark)
    if work > 3 * length { throw after.error(.value, "the comparison is too long", at: start) }
    (before, after) = (beforeValue, afterValue)
    before.skip(to: oldEnd)
    after.skip(to: range.upperBound)
    isDone = false
    leafBytes = scope.leafBytes
    replace(range, since: scope.mark, &patch)
  }

  /// Returns false if too much has been read or written, or the containers nest too deep.
  private func mayCompare(_ patch: borrowing JSONPatchWriter) -> Bool {
    let written = start.map { patch.bytes(since: $0) - leafBytes } ?? 0
    return depth < Self.maximumDepth && work + written <= 4 * length
  }

  /// A container that is being compared, with the bound for its operations.
  struct Scope {
    /// The position in the patch at which its operations begin.
    let mark: JSONPatchWriter.Mark
    /// The number of bytes that leaves had written before the container.
    let leafBytes: Int
    /// The offset at which it starts in the new text.
    let start: Int
    /// The offset at which it ends in the old text.
    let oldEnd: Int
    /// The number of bytes of an operation that replaces it, without the value.
    let overhead: Int
    /// The offset at which it ends in the new text, once that is known.
    var end: Int?
    /// The number of bytes of an operation that replaces it, computed when its operations become
    /// long; 0 before.
    var whole = 0
  }

  private func scope(
    from start: Int, _ oldEnd: Int, _ patch: borrowing JSONPatchWriter
  ) -> Scope {
    Scope(
      mark: patch.mark, leafBytes: leafBytes, start: start, oldEnd: oldEnd,
      overhead: patch.overhead, end: depth == 1 ? ends.new : nil)
  }

  /// Returns true if the operations of a container, without those of leaves, are longer than an
  /// operation that replaces it.
  ///
  /// - Parameter after: The reader of the new value; the value is at least as long as the part
  ///   already read.
  @inline(__always)
  mutating func isTooLong(
    _ scope: inout Scope, _ after: JSONReader, _ patch: borrowing JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let written = patch.bytes(since: scope.mark) - (leafBytes - scope.leafBytes)
    let read = after.position - scope.start
    guard written > max(scope.overhead + read, scope.whole) else { return false }
    return try isTooLong(&scope, after, written: written)
  }

  /// Returns true if the operations of a container are longer than an operation that replaces it,
  /// using the exact length of the new value.
  mutating func isTooLong(
    _ scope: inout Scope, _ after: JSONReader, written: Int
  ) throws(JSONError) -> Bool {
    if scope.whole == 0 {
      let range = scope.start..<(try end(of: &scope, after))
      let leaves = newLeaves[newLeaves.range(in: range)]
      scope.whole = scope.overhead + leaves.reduce(range.count) { $0 + $1.value.expectedBytes }
    }
    return written > scope.whole
  }

  /// Returns the end of a container's new value.
  ///
  /// - Parameter after: A reader that has read part of the object's members; only the others are
  ///   read here.
  private mutating func end(
    of scope: inout Scope, _ after: JSONReader
  ) throws(JSONError) -> Int {
    if let end = scope.end { return end }
    var rest = after
    if isDone {
      rest.skip(to: scope.oldEnd + new.count - old.count)
    } else {
      while try rest.nextKey() != nil { _ = try skip(&rest, isOld: false) }
    }
    scope.end = rest.position
    return rest.position
  }

  /// Compares two values of which at least one is not a container, or which nest too deep.
  mutating func compareScalars(
    _ before: Range<Int>, _ after: Range<Int>, _ patch: inout JSONPatchWriter
  ) throws(JSONError) {
    let oldLeaf = oldLeaves.range(in: before)
    let newLeaf = newLeaves.range(in: after)
    if let from = oldLeaf.first, let to = newLeaf.first,
      oldLeaves[from].offset == before.lowerBound,
      newLeaves[to].offset == after.lowerBound
    {
      let mark = patch.mark
      if oldLeaves[from].value.advance(to: newLeaves[to].value, writing: &patch) {
        leafBytes += patch.bytes(since: mark)
        leaves[to].value = oldLeaves[from].value
        return
      }
    } else if oldLeaf.isEmpty, newLeaf.isEmpty, try areSame(before, after) {
      return
    }
    replace(after, since: patch.mark, &patch)
  }

  /// Returns true if two values without leaves are the same data.
  func areSame(_ before: Range<Int>, _ after: Range<Int>) throws(JSONError) -> Bool {
    if old.part(before).hasSameBytes(as: new.part(after)) { return true }
    var before = reader(of: old, at: before.lowerBound)
    var after = reader(of: new, at: after.lowerBound)
    switch (try before.peek(), try after.peek()) {
    case (.string, .string):
      return try before.readStringBytes().isSame(as: try after.readStringBytes())
    case (.number, .number):
      return try before.readNumber() == after.readNumber()
    default:
      return false
    }
  }

  /// Replaces the current value by the value in a range of the new text, after removing the
  /// operations since a mark.
  mutating func replace(
    _ range: Range<Int>, since mark: JSONPatchWriter.Mark, _ patch: inout JSONPatchWriter
  ) {
    patch.truncate(to: mark)
    for index in newLeaves.range(in: range) { leaves[index] = newLeaves[index] }
    // Only the text and its leaves: a closure that captures `self` copies all of it.
    let (text, written) = (new, newLeaves)
    patch.replace { written.write(text, range, to: &$0) }
  }

  /// Skips the next values if their bytes are the same and contain no leaves.
  ///
  /// - Parameter range: The range of the old value.
  mutating func skipIfSame(
    _ before: inout JSONReader, _ range: Range<Int>, _ after: inout JSONReader
  ) -> Bool {
    let start = after.nextValueOffset()
    // A number could be longer in the new text, so the byte after it is compared as well.
    let end = start + range.count
    work += range.count / Self.bytesComparedAtOnce
    guard end < new.count, range.upperBound < old.count,
      new[end] == old[range.upperBound],
      new.part(start..<end).hasSameBytes(as: old.part(range)),
      oldLeaves.range(in: range).isEmpty, newLeaves.range(in: start..<end).isEmpty
    else { return false }
    before.skip(to: range.upperBound)
    after.skip(to: end)
    return true
  }

  /// Returns true if everything from the current positions to the ends of both texts is the same.
  func isRestSame(_ before: JSONReader, _ after: JSONReader) -> Bool {
    let rest = old.count - before.position
    return rest <= suffix && rest == new.count - after.position
      && oldLeaves.range(in: before.position..<old.count).isEmpty
      && newLeaves.range(in: after.position..<new.count).isEmpty
  }
}

extension JSONPatchWriter {
  /// Writes the operations that change one JSON text to another, at the current path.
  package mutating func writeDifference(from old: [UInt8], to new: [UInt8]) {
    old.withUnsafeBytes { old in
      new.withUnsafeBytes { new in
        var difference = JSONDifference(from: old, to: new, [])
        difference.write(to: &self)
      }
    }
  }

  mutating func enter(_ key: JSONKey) {
    // Nested functions cannot capture an inout noncopyable value, so keys with escapes become
    // strings.
    if key.isEscaped { enter(key.string) } else { enter(key: key.rawBytes) }
  }
}

extension UnsafeRawBufferPointer {
  /// The offset at which the trailing white space begins.
  fileprivate var endWithoutSpace: Int {
    var end = count
    while end > 0, self[end - 1] <= 0x20 { end -= 1 }
    return end
  }

  /// Returns the number of equal bytes at the end of both.
  fileprivate func commonSuffix(with other: UnsafeRawBufferPointer) -> Int {
    let limit = Swift.min(count, other.count)
    var length = 0
    while length + 8 <= limit {
      let own = loadUnaligned(fromByteOffset: count - length - 8, as: UInt64.self)
      let others = other.loadUnaligned(
        fromByteOffset: other.count - length - 8, as: UInt64.self)
      guard own == others else { break }
      length += 8
    }
    while length < limit, self[count - length - 1] == other[other.count - length - 1] {
      length += 1
    }
    return length
  }
}
