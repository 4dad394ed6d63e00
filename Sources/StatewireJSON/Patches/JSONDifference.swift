// SPDX-License-Identifier: Apache-2.0

/// The comparison of two encoded states: both texts are read in lockstep, and no tree is built.
///
/// The usual case, the same keys in the same order, costs one pass over the old text up to the last
/// difference; a value whose bytes are the same is passed over as a whole.
///
/// Whatever the texts are, the patch and the work are bounded by their length:
/// - A container whose operations grow longer than itself is replaced whole, as soon as that is seen
///   (`Scope`), so the patch is at most as long as the new text and one path.
/// - Reading nested containers again at each level is counted (`work`); beyond a multiple of the texts'
///   length, containers are replaced without being compared.
struct JSONDifference {
  /// Beyond this depth values are replaced whole, so that recursion is bounded whatever is compared.
  static let maximumDepth = 512

  let old: UnsafeRawBufferPointer
  let new: UnsafeRawBufferPointer
  /// What the other side holds; brought forward in place.
  var oldLeaves: [JSONLeaf] = []
  private let newLeaves: [JSONLeaf]
  /// The leaves of the new text: old ones that could be brought forward, new ones elsewhere.
  private(set) var leaves: [JSONLeaf]
  /// Where the outermost values end: at the ends of their texts, but for white space.
  private let ends: (old: Int, new: Int)
  /// How many bytes at the end of both texts are the same.
  private let suffix: Int
  /// Whether all that remains is the same.
  private var isDone = false
  private var depth = 0
  /// How many bytes have been read of containers within containers, and of values that were replaced.
  private var work = 0
  /// How many bytes of the patch leaves have written, whose own bound it is how many.
  private var leafBytes = 0
  /// How much `work` there may be before no further container is compared.
  private let mostWork: Int

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
    mostWork = 8 * (old.count + new.count)
  }

  /// Writes the operations that lead from the old text to the new.
  mutating func write(to patch: inout JSONPatchWriter) {
    let start = patch.mark
    var before = reader(of: old, at: 0)
    var after = reader(of: new, at: 0)
    do {
      try compare(&before, to: ends.old, &after, &patch)
    } catch {
      // A type that writes itself has written no JSON. It is passed on as it is, and no worse.
      replace(0..<new.count, since: start, &patch)
    }
  }

  private func reader(of text: UnsafeRawBufferPointer, at offset: Int) -> JSONReader {
    JSONReader(text, at: offset, limits: JSONLimits(maximumDepth: .max))
  }
}

// MARK: - Any value

extension JSONDifference {
  /// Compares the values that come next and reads past them.
  ///
  /// - Parameter oldEnd: Where the old one ends.
  private mutating func compare(
    _ before: inout JSONReader, to oldEnd: Int, _ after: inout JSONReader,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) {
    depth += 1
    defer { depth -= 1 }
    let start = after.nextValueOffset()
    let oldStart = before.nextValueOffset()
    let (beforeValue, afterValue) = (before, after)
    var scope = scope(from: start, patch)
    let isShort: Bool
    switch (try before.peek(), try after.peek()) {
    case (.object, .object) where mayCompare(oldStart..<oldEnd):
      isShort = try compareObjects(&before, &after, &scope, &patch)
    case (.array, .array) where mayCompare(oldStart..<oldEnd):
      isShort = try compareArrays(&before, &after, &scope, &patch)
    default:
      before.skip(to: oldEnd)
      return try compareScalars(oldStart..<oldEnd, after.skipValue(), &patch)
    }
    if isShort, try !isTooLong(&scope, readTo: after.position, patch) { return }
    let range = try newRange(from: start)
    work += range.count
    (before, after) = (beforeValue, afterValue)
    before.skip(to: oldEnd)
    after.skip(to: range.upperBound)
    isDone = false
    leafBytes = scope.leafBytes
    replace(range, since: scope.mark, &patch)
  }

  /// Counts a container that is to be compared; false if too much has been read, or it is too deep.
  private mutating func mayCompare(_ range: Range<Int>) -> Bool {
    work += range.count
    return depth < Self.maximumDepth && work <= mostWork
  }

  /// A container that is compared, and how long its operations may become.
  private struct Scope {
    /// Where its operations begin in the patch.
    let mark: JSONPatchWriter.Mark
    /// How many bytes leaves had written before it.
    let leafBytes: Int
    /// Where it starts in the new text.
    let start: Int
    /// How many bytes replacing it takes beside the value.
    let overhead: Int
    /// How many bytes replacing it takes, once its operations were long enough for that to matter; 0 before.
    var whole = 0
  }

  private func scope(from start: Int, _ patch: borrowing JSONPatchWriter) -> Scope {
    Scope(mark: patch.mark, leafBytes: leafBytes, start: start, overhead: patch.overhead)
  }

  /// Whether the operations of a container, those of leaves aside, are longer than replacing it.
  ///
  /// - Parameter position: How far its new value has been read: it is at least as long.
  private mutating func isTooLong(
    _ scope: inout Scope, readTo position: Int, _ patch: borrowing JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let written = patch.bytes(since: scope.mark) - (leafBytes - scope.leafBytes)
    guard written > max(scope.overhead + position - scope.start, scope.whole) else { return false }
    if scope.whole == 0 {
      let range = try newRange(from: scope.start)
      work += range.count
      let leaves = newLeaves[newLeaves.range(in: range)]
      scope.whole = scope.overhead + leaves.reduce(range.count) { $0 + $1.value.expectedBytes }
    }
    return written > scope.whole
  }

  /// The range of the new value that starts at an offset, at the depth of now.
  private func newRange(from start: Int) throws(JSONError) -> Range<Int> {
    if depth == 1 { return start..<ends.new }
    var value = reader(of: new, at: start)
    return try value.skipValue()
  }

  /// Compares values of which at least one is no container, or that nest too deep to go on.
  private mutating func compareScalars(
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

  /// Whether two values without leaves are the same data.
  private func areSame(_ before: Range<Int>, _ after: Range<Int>) throws(JSONError) -> Bool {
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

  /// Replaces the value here by that of a range of the new text, taking back what was written.
  private mutating func replace(
    _ range: Range<Int>, since mark: JSONPatchWriter.Mark, _ patch: inout JSONPatchWriter
  ) {
    patch.truncate(to: mark)
    for index in newLeaves.range(in: range) { leaves[index] = newLeaves[index] }
    patch.replace { write(range, to: &$0) }
  }

  /// Writes the value of a range of the new text in full.
  private func write(_ range: Range<Int>, to writer: inout JSONWriter) {
    newLeaves.write(new, range, to: &writer)
  }

  /// Reads past the values that come next if their bytes are the same and hold no leaves.
  /// - Parameter range: That of the old one.
  private func skipIfSame(
    _ before: inout JSONReader, _ range: Range<Int>, _ after: inout JSONReader
  ) -> Bool {
    let start = after.nextValueOffset()
    // A number could go on in the new text, so what is behind has to be looked at as well.
    let end = start + range.count
    guard end < new.count, range.upperBound < old.count,
      new[end] == old[range.upperBound],
      new.part(start..<end).hasSameBytes(as: old.part(range)),
      oldLeaves.range(in: range).isEmpty, newLeaves.range(in: start..<end).isEmpty
    else { return false }
    before.skip(to: range.upperBound)
    after.skip(to: end)
    return true
  }

  /// Whether everything from here to the end of both texts is the same.
  private func isRestSame(_ before: JSONReader, _ after: JSONReader) -> Bool {
    let rest = old.count - before.position
    return rest <= suffix && rest == new.count - after.position
      && oldLeaves.range(in: before.position..<old.count).isEmpty
      && newLeaves.range(in: after.position..<new.count).isEmpty
  }
}

// MARK: - Objects

extension JSONDifference {
  /// Compares member by member; false if the new object is to replace the old one, since they are
  /// different cases of an enum, or replacing is shorter.
  private mutating func compareObjects(
    _ before: inout JSONReader, _ after: inout JSONReader, _ scope: inout Scope,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    try before.beginObject()
    try after.beginObject()
    while true {
      if isRestSame(before, after) {
        isDone = true
        return true
      }
      let (beforeKey, afterKey) = (before, after)
      let key = try before.nextKey()
      // Most often the same bytes come on both sides.
      if !after.readSame(as: beforeKey, to: before), try !Self.areSame(key, after.nextKey()) {
        // Keys have come, gone or changed places.
        (before, after) = (beforeKey, afterKey)
        return try compareByKey(&before, &after, &scope, &patch)
      }
      guard let key else { return true }
      guard try compareMembers(key, &before, &after, &patch) else { return false }
      if isDone { return true }
      if try isTooLong(&scope, readTo: after.position, patch) { return false }
    }
  }

  private static func areSame(_ one: JSONKey?, _ other: JSONKey?) -> Bool {
    switch (one, other) {
    case (let one?, let other?): one.isSame(as: other)
    case (nil, nil): true
    default: false
    }
  }

  /// Compares the values of a key that both objects have; false if that makes them different cases.
  private mutating func compareMembers(
    _ key: JSONKey, _ before: inout JSONReader, _ after: inout JSONReader,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    var beyond = before
    let oldRange = try beyond.skipValue()
    if skipIfSame(&before, oldRange, &after) { return true }
    // What tells two cases apart, seen before anything is written of it.
    if key == "type", try before.peek() == .string, try after.peek() == .string {
      before = beyond
      return try areSame(oldRange, after.skipValue())
    }
    let mark = patch.mark
    patch.enter(key)
    try compare(&before, to: oldRange.upperBound, &after, &patch)
    patch.leave()
    return !(key == "type") || patch.count == mark.count
  }

  /// Compares what remains of two objects, whatever the order of their members.
  private mutating func compareByKey(
    _ before: inout JSONReader, _ after: inout JSONReader, _ scope: inout Scope,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let oldMembers = try MemberTable(&before)
    let newMembers = try MemberTable(&after)
    if let tag = oldMembers.member("type"), let newTag = newMembers.member("type"),
      !(try areSame(tag.range, newTag.range))
    {
      return false
    }
    for member in oldMembers.effective where newMembers.member(member.key) == nil {
      patch.enter(member.key)
      patch.remove()
      patch.leave()
      if try isTooLong(&scope, readTo: after.position, patch) { return false }
    }
    for member in newMembers.effective {
      var value = reader(of: new, at: member.range.lowerBound)
      if let counterpart = oldMembers.member(member.key) {
        var oldValue = reader(of: old, at: counterpart.range.lowerBound)
        _ = try compareMembers(member.key, &oldValue, &value, &patch)
        isDone = false
      } else {
        patch.enter(member.key)
        patch.add { write(member.range, to: &$0) }
        patch.leave()
      }
      if try isTooLong(&scope, readTo: after.position, patch) { return false }
    }
    return true
  }
}

// MARK: - Arrays

extension JSONDifference {
  /// Compares two arrays: what they begin and end with alike stays, and so do most elements that are
  /// the same between; of what is left, elements at the same place are compared in turn. False if
  /// replacing the array is shorter.
  private mutating func compareArrays(
    _ before: inout JSONReader, _ after: inout JSONReader, _ scope: inout Scope,
    _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let oldElements = try elements(&before)
    let newElements = try elements(&after)
    func areSame(_ from: Int, _ to: Int) -> Bool {
      let (from, to) = (oldElements[from], newElements[to])
      return old.part(from).hasSameBytes(as: new.part(to))
        && oldLeaves.range(in: from).isEmpty && newLeaves.range(in: to).isEmpty
    }
    let kept = CommonElements.find(oldElements.count, newElements.count, areSame)
    var from = 0
    var to = 0
    for run in kept + [.init(old: oldElements.count, new: newElements.count, count: 0)] {
      // The index in the array as patched so far is that of the new array.
      while from < run.old || to < run.new {
        if from < run.old && to < run.new {
          var oldElement = reader(of: old, at: oldElements[from].lowerBound)
          var newElement = reader(of: new, at: newElements[to].lowerBound)
          patch.enter(index: to)
          try compare(&oldElement, to: oldElements[from].upperBound, &newElement, &patch)
          isDone = false
          patch.leave()
          from += 1
          to += 1
        } else if from < run.old {
          patch.remove(at: to)
          from += 1
        } else {
          patch.add(at: to) { write(newElements[to], to: &$0) }
          to += 1
        }
        if try isTooLong(&scope, readTo: after.position, patch) { return false }
      }
      from += run.count
      to += run.count
    }
    return true
  }

  private func elements(_ reader: inout JSONReader) throws(JSONError) -> [Range<Int>] {
    var elements: [Range<Int>] = []
    try reader.beginArray()
    while try reader.nextElement() { elements.append(try reader.skipValue()) }
    return elements
  }
}

extension JSONPatchWriter {
  fileprivate mutating func enter(_ key: JSONKey) {
    // Nested functions cannot capture an inout noncopyable value, so slow keys become strings.
    if key.isEscaped { enter(key.string) } else { enter(key: key.rawBytes) }
  }
}

extension UnsafeRawBufferPointer {
  /// Where the white space at the end begins.
  fileprivate var endWithoutSpace: Int {
    var end = count
    while end > 0, self[end - 1] <= 0x20 { end -= 1 }
    return end
  }

  /// How many bytes at the end of both are the same.
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
