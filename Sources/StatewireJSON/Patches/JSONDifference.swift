// SPDX-License-Identifier: Apache-2.0

/// The comparison of two encoded states: both texts are read in lockstep, and no tree is built.
///
/// The usual case, the same keys in the same order, costs one pass over the old text up to the last
/// difference; a value whose bytes are the same is passed over as a whole.
///
/// Whatever the texts are, the patch and the work are bounded by their length:
/// - A container whose operations grow longer than itself is replaced whole, as soon as that is seen
///   (`Scope`), so the patch is at most as long as the new text and one path.
/// - Nested containers are read past again at each level, until that has cost as much as reading both
///   texts once; from then on it is known where each of them ends (`ContainerEnds`).
/// - What is read, and operations that are taken back, are counted (`work`). Beyond a multiple of the
///   texts' length containers are replaced without being compared, and the whole text replaces the old
///   one where operations would have to be taken back.
struct JSONDifference {
  /// Beyond this depth values are replaced whole, so that recursion is bounded whatever is compared.
  static let maximumDepth = 512
  /// Comparing bytes is faster than reading them, about so many times.
  private static let bytesComparedAtOnce = 32

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
  /// How many bytes have been read past, and written of operations that were taken back and of the values
  /// in their place.
  private var work = 0
  /// How many bytes of the patch leaves have written, whose own bound it is how many.
  private var leafBytes = 0
  /// The length of both texts, and a little for short ones. There may be four times as much `work`, with
  /// what is written, before containers are no longer compared, and three times as much when operations
  /// are taken back.
  private let length: Int
  /// Where the operations begin in the patch.
  private var start: JSONPatchWriter.Mark?
  /// Where containers end, once much has been read.
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

  /// Writes the operations that lead from the old text to the new.
  mutating func write(to patch: inout JSONPatchWriter) {
    let start = patch.mark
    self.start = start
    var before = reader(of: old, at: 0)
    var after = reader(of: new, at: 0)
    do {
      try compare(&before, to: ends.old, &after, &patch)
    } catch {
      // There is too much work. Or a type that writes itself has written no JSON: it is passed on as it is.
      replace(0..<new.count, since: start, &patch)
    }
  }

  /// Reads past the value that comes next; a container costs next to nothing once much has been read.
  @inline(__always)
  private mutating func skip(
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
  private mutating func compareContainers(
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
    if work > 3 * length { throw after.error(.value, "there is too much work", at: start) }
    (before, after) = (beforeValue, afterValue)
    before.skip(to: oldEnd)
    after.skip(to: range.upperBound)
    isDone = false
    leafBytes = scope.leafBytes
    replace(range, since: scope.mark, &patch)
  }

  /// False if too much has been read or written, or containers are too deep.
  private func mayCompare(_ patch: borrowing JSONPatchWriter) -> Bool {
    let written = start.map { patch.bytes(since: $0) - leafBytes } ?? 0
    return depth < Self.maximumDepth && work + written <= 4 * length
  }

  /// A container that is compared, and how long its operations may become.
  private struct Scope {
    /// Where its operations begin in the patch.
    let mark: JSONPatchWriter.Mark
    /// How many bytes leaves had written before it.
    let leafBytes: Int
    /// Where it starts in the new text.
    let start: Int
    /// Where it ends in the old text.
    let oldEnd: Int
    /// How many bytes replacing it takes beside the value.
    let overhead: Int
    /// Where it ends in the new text, once that is known.
    var end: Int?
    /// How many bytes replacing it takes, once its operations were long enough for that to matter; 0 before.
    var whole = 0
  }

  private func scope(
    from start: Int, _ oldEnd: Int, _ patch: borrowing JSONPatchWriter
  ) -> Scope {
    Scope(
      mark: patch.mark, leafBytes: leafBytes, start: start, oldEnd: oldEnd,
      overhead: patch.overhead, end: depth == 1 ? ends.new : nil)
  }

  /// Whether the operations of a container, those of leaves aside, are longer than replacing it.
  ///
  /// - Parameter after: Has read its new value so far: it is at least as long.
  @inline(__always)
  private mutating func isTooLong(
    _ scope: inout Scope, _ after: JSONReader, _ patch: borrowing JSONPatchWriter
  ) throws(JSONError) -> Bool {
    let written = patch.bytes(since: scope.mark) - (leafBytes - scope.leafBytes)
    let read = after.position - scope.start
    guard written > max(scope.overhead + read, scope.whole) else { return false }
    return try isTooLong(&scope, after, written: written)
  }

  /// The same where the whole of the value has to be looked at.
  private mutating func isTooLong(
    _ scope: inout Scope, _ after: JSONReader, written: Int
  ) throws(JSONError) -> Bool {
    if scope.whole == 0 {
      let range = scope.start..<(try end(of: &scope, after))
      let leaves = newLeaves[newLeaves.range(in: range)]
      scope.whole = scope.overhead + leaves.reduce(range.count) { $0 + $1.value.expectedBytes }
    }
    return written > scope.whole
  }

  /// Where the new value of a container ends.
  ///
  /// - Parameter after: Has read the members of an object so far; only the others are read here.
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
  private mutating func skipIfSame(
    _ before: inout JSONReader, _ range: Range<Int>, _ after: inout JSONReader
  ) -> Bool {
    let start = after.nextValueOffset()
    // A number could go on in the new text, so what is behind has to be looked at as well.
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
      guard let key else {
        scope.end = after.position
        return true
      }
      var beyond = before
      let oldRange = try skip(&beyond, isOld: true)
      guard try compareMembers(key, oldRange, &before, &after, &patch) else { return false }
      if isDone { return true }
      if try isTooLong(&scope, after, patch) { return false }
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
  ///
  /// - Parameter oldRange: That of the old value.
  private mutating func compareMembers(
    _ key: JSONKey, _ oldRange: Range<Int>, _ before: inout JSONReader,
    _ after: inout JSONReader, _ patch: inout JSONPatchWriter
  ) throws(JSONError) -> Bool {
    if skipIfSame(&before, oldRange, &after) { return true }
    // What tells two cases apart, seen before anything is written of it.
    if key == "type", try before.peek() == .string, try after.peek() == .string {
      before.skip(to: oldRange.upperBound)
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
    let oldMembers = try MemberTable(&before) { reader throws(JSONError) in
      try skip(&reader, isOld: true)
    }
    let newMembers = try MemberTable(&after) { reader throws(JSONError) in
      try skip(&reader, isOld: false)
    }
    scope.end = after.position
    if let tag = oldMembers.member("type"), let newTag = newMembers.member("type"),
      !(try areSame(tag.range, newTag.range))
    {
      return false
    }
    for member in oldMembers.effective where newMembers.member(member.key) == nil {
      patch.enter(member.key)
      patch.remove()
      patch.leave()
      if try isTooLong(&scope, after, patch) { return false }
    }
    for member in newMembers.effective {
      var value = reader(of: new, at: member.range.lowerBound)
      if let counterpart = oldMembers.member(member.key) {
        var oldValue = reader(of: old, at: counterpart.range.lowerBound)
        _ = try compareMembers(member.key, counterpart.range, &oldValue, &value, &patch)
        isDone = false
      } else {
        patch.enter(member.key)
        patch.add { write(member.range, to: &$0) }
        patch.leave()
      }
      if try isTooLong(&scope, after, patch) { return false }
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
    let oldElements = try elements(&before, isOld: true)
    let newElements = try elements(&after, isOld: false)
    scope.end = after.position
    var compared = 0
    func areSame(_ from: Int, _ to: Int) -> Bool {
      let (from, to) = (oldElements[from], newElements[to])
      if from.count == to.count { compared += from.count }
      return old.part(from).hasSameBytes(as: new.part(to))
        && oldLeaves.range(in: from).isEmpty && newLeaves.range(in: to).isEmpty
    }
    let kept = CommonElements.find(oldElements.count, newElements.count, areSame)
    work += compared / Self.bytesComparedAtOnce
    var from = 0
    var to = 0
    for next in 0...kept.count {
      let run =
        next < kept.count
        ? kept[next]
        : CommonElements.Run(old: oldElements.count, new: newElements.count, count: 0)
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
        if try isTooLong(&scope, after, patch) { return false }
      }
      from += run.count
      to += run.count
    }
    return true
  }

  private mutating func elements(
    _ reader: inout JSONReader, isOld: Bool
  ) throws(JSONError) -> [Range<Int>] {
    var elements: [Range<Int>] = []
    elements.reserveCapacity(4)
    try reader.beginArray()
    while try reader.nextElement() { elements.append(try skip(&reader, isOld: isOld)) }
    return elements
  }
}

extension JSONPatchWriter {
  /// Writes the operations that lead from one JSON text to another, about the value here.
  package mutating func writeDifference(from old: [UInt8], to new: [UInt8]) {
    old.withUnsafeBytes { old in
      new.withUnsafeBytes { new in
        var difference = JSONDifference(from: old, to: new, [])
        difference.write(to: &self)
      }
    }
  }

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
