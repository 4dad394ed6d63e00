// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A list version, which a store keeps for a list whose updates its subscribers receive: a
/// reference, not the elements.
///
/// The change log of the list contains the changes since then, including removed elements. A change
/// therefore costs only the writing of its operations, and the list is changed in place.
struct ListVersion<Element: Identifiable & Encodable & Sendable>: Sendable
where Element.ID: KeyedListID {
  typealias Box = ElementBox<Element>

  private var reference: ListVersionReference
  /// The encoding of the elements, created when the first element is written.
  // because it contains only types, which are not `Sendable` values to the compiler.
  nonisolated(unsafe) private var coding: ElementCoding<Element>?

  init(_ list: ListHistory) { reference = ListVersionReference(list) }

  /// The elements, which can only be iterated; see `ListVersionReference.order`.
  private var order: CountedTree<AnyBox> { reference.order }
}

extension ListVersion: JSONDifferencing {
  func write(to writer: inout JSONWriter) { Self.write(order, to: &writer) }

  static func write(_ order: CountedTree<AnyBox>, to writer: inout JSONWriter) {
    let encoding = JSONEncoding<Element>()
    writer.beginArray()
    order.visitPayloads { box in
      unsafeDowncast(box, to: Box.self).write(by: encoding, to: &writer)
    }
    writer.endArray()
  }

  var version: UInt64? { reference.version }

  /// The approximate length in bytes: 64 per element for up to 256 elements, otherwise estimated
  /// from 16 elements. Each version uses other elements, so that a client cannot choose short ones.
  var expectedBytes: Int {
    let (order, encoding) = (order, JSONEncoding<Element>())
    let samples = 16
    guard order.count > 256 else { return order.count * 64 }
    let first = Int((reference.version &* 0x9E37_79B9_7F4A_7C15) >> 33) % order.count
    var writer = JSONWriter()
    writer.beginArray()
    for sample in 0..<samples {
      let box = order.entry(at: (first + sample * order.count / samples) % order.count).payload
      unsafeDowncast(box, to: Box.self).write(by: encoding, to: &writer)
    }
    return writer.count * order.count / samples
  }

  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    var new = new
    return Self.open(&new) { advance(to: $0.pointee.reference, writing: &patch) } ?? false
  }

  /// Updates a list version to the current version of a list if it is a version of a list of this
  /// type.
  static func advance(
    _ held: inout any JSONDifferencing, to new: ListHistory, writing patch: inout JSONPatchWriter
  ) -> Bool {
    open(&held) { $0.pointee.advance(to: new, writing: &patch) } ?? false
  }

  /// Calls `body` with the address of a list version of this type; returns nil for a value of
  /// another type.
  ///
  /// A cast would look up the type and copy the value, so it could not be updated in place. The
  /// function is generic over the result, so that all other code is compiled for one element type.
  private static func open<Result>(
    _ value: inout any JSONDifferencing, _ body: (UnsafeMutablePointer<ListVersion>) -> Result
  ) -> Result? {
    withAddress(of: &value) { type, address in
      type == ListVersion.self ? body(address.assumingMemoryBound(to: ListVersion.self)) : nil
    }
  }

  private mutating func advance(
    to new: ListHistory, writing patch: inout JSONPatchWriter
  ) -> Bool {
    if let change = new.log.only(since: reference.version) {
      write(change, to: &patch)
    } else {
      let changes = new.log.since(reference.version)
      guard write(changes, leadingTo: new.order, new.origin, &patch) else { return false }
    }
    updateReference(to: new)
    return true
  }

  private mutating func advance(
    to new: ListVersionReference, writing patch: inout JSONPatchWriter
  ) -> Bool {
    let changes = new.changes(from: reference.version)
    guard write(changes, leadingTo: new.order, new.history.origin, &patch) else { return false }
    reference = new
    return true
  }

  private mutating func updateReference(to new: ListHistory) {
    if isKnownUniquelyReferenced(&reference) {
      reference.update(to: new)
    } else {
      // A copy must remain at its version.
      reference = ListVersionReference(new)
    }
  }
}

// MARK: - Writing the list's own changes

extension ListVersion {
  private mutating func write(_ change: ListChange, to patch: inout JSONPatchWriter) {
    switch change {
    case .insert(let position, let box):
      let coding = elementCoding()
      patch.add(at: position) { coding.write(Self.element(box), &$0) }
    case .update(let position, let old, let new):
      Self.writeDifference(from: old, to: new, at: position, by: elementCoding(), &patch)
    case .remove(let position, _):
      patch.remove(at: position)
    case .move(let from, let to, _):
      patch.move(from: from, to: to)
    }
  }

  /// Writes changes. The changes may cancel each other: no operation is written if all elements and
  /// positions are the same in the end.
  ///
  /// - Parameters:
  ///   - changes: The changes from this version to `new`; nil if they are not known.
  ///   - new: The resulting order, evaluated only if needed.
  ///   - origin: The origin of the list that `new` belongs to.
  /// - Returns: False if writing the whole list is shorter; no operation has been written then.
  private mutating func write(
    _ changes: [ListChange]?, leadingTo new: @autoclosure () -> CountedTree<AnyBox>,
    _ origin: UInt64, _ patch: inout JSONPatchWriter
  ) -> Bool {
    guard let changes else { return compare(with: new(), origin, writing: &patch) }
    let mark = patch.mark
    var bound = PatchBound(patch)
    for change in changes { write(change, to: &patch) }
    // A single operation is never much longer than the list.
    guard changes.count > 1 else { return true }
    let isLong = bound.isExceeded(by: patch, of: new(), elementCoding())
    // Both orders share all nodes that the changes did not touch, so the comparison costs as much
    // as the changes.
    let isSame =
      changes.reduce(0, { $0 + $1.growth }) == 0
      && Self.areSame(order, new(), by: elementCoding())
    if isLong || isSame { patch.truncate(to: mark) }
    return isSame || !isLong
  }

  private static func element(_ box: AnyBox) -> Element {
    unsafeDowncast(box, to: Box.self).element
  }

  private static func key(of box: AnyBox) -> String { element(box).id.keyText }

  private mutating func elementCoding() -> ElementCoding<Element> {
    if let coding { return coding }
    let made = ElementCoding<Element>()
    coding = made
    return made
  }

  /// Returns true if two versions have the same elements in the same order, regardless of their
  /// labels.
  private static func areSame(
    _ one: CountedTree<AnyBox>, _ other: CountedTree<AnyBox>, by coding: ElementCoding<Element>
  ) -> Bool {
    guard one.count == other.count else { return false }
    var mine = TreeCursor(one)
    var theirs = TreeCursor(other)
    var comparison = JSONPatchWriter()
    while true {
      _ = TreeCursor.skipShared(&mine, &theirs)
      guard let old = mine.entry, let new = theirs.entry else { return true }
      writeDifference(from: old.payload, to: new.payload, at: 0, by: coding, &comparison)
      guard comparison.isEmpty else { return false }
      mine.next()
      theirs.next()
    }
  }

  private static func writeDifference(
    from old: AnyBox, to new: AnyBox, at position: Int, by coding: ElementCoding<Element>,
    _ patch: inout JSONPatchWriter
  ) {
    guard old !== new else { return }
    patch.enter(index: position)
    defer { patch.leave() }
    // An element that cannot be encoded is written as `null`, so a change between two such elements
    // is not a difference.
    switch (coding.state(element(old)), coding.state(element(new))) {
    case (nil, nil): break
    case (var before?, let after?): before.advance(to: after, writing: &patch)
    default: patch.replace { coding.write(element(new), &$0) }
    }
  }
}

// MARK: - Comparing with another version

extension ListVersion {
  /// Writes the operations that change this version to `new`. Returns false if writing the whole
  /// list is shorter.
  private mutating func compare(
    with new: CountedTree<AnyBox>, _ origin: UInt64, writing patch: inout JSONPatchWriter
  ) -> Bool {
    let coding = elementCoding()
    let old = order
    let isOneList = reference.history.origin == origin
    if isOneList, Self.areSame(old, new, by: coding) { return true }
    let mark = patch.mark
    let isShort =
      isOneList
      ? Self.merge(old, new, by: coding, writing: &patch)
      : Self.align(old, with: new, by: coding, writing: &patch)
    if !isShort { patch.truncate(to: mark) }
    return isShort
  }

  /// Compares two versions of one list by their labels and skips shared nodes.
  private static func merge(
    _ old: CountedTree<AnyBox>, _ new: CountedTree<AnyBox>, by coding: ElementCoding<Element>,
    writing patch: inout JSONPatchWriter
  ) -> Bool {
    var bound = PatchBound(patch)
    var mine = TreeCursor(old)
    var theirs = TreeCursor(new)
    var position = 0
    while !bound.isExceeded(by: patch, of: new, coding) {
      position += TreeCursor.skipShared(&mine, &theirs)
      switch (mine.entry, theirs.entry) {
      case (nil, nil):
        return true
      case (let old?, let new?) where old.key == new.key:
        if key(of: old.payload).hasSameBytes(as: key(of: new.payload)) {
          writeDifference(
            from: old.payload, to: new.payload, at: position, by: coding, &patch)
        } else {
          patch.replace(at: position) { coding.write(element(new.payload), &$0) }
        }
        position += 1
        mine.next()
        theirs.next()
      case (let old, let new?) where old.map({ new.key < $0.key }) ?? true:
        patch.add(at: position) { coding.write(element(new.payload), &$0) }
        position += 1
        theirs.next()
      default:
        patch.remove(at: position)
        mine.next()
      }
    }
    return false
  }

  /// Compares two lists that have only ids in common.
  ///
  /// A longest run of elements with the same relative order is kept. All other elements are
  /// removed, the last one first, and added again at their new positions.
  private static func align(
    _ old: CountedTree<AnyBox>, with new: CountedTree<AnyBox>, by coding: ElementCoding<Element>,
    writing patch: inout JSONPatchWriter
  ) -> Bool {
    // One operation for each element is longer than the whole list.
    guard old.count > 0 || new.count <= 16 else { return false }
    var bound = PatchBound(patch)
    let whole = new
    let old = old.entries.map(\.payload)
    let new = new.entries.map(\.payload)
    let places = Dictionary(
      uniqueKeysWithValues: new.enumerated().map { (ByteString(key(of: $1)), $0) })
    let targets = old.map { places[ByteString(key(of: $0))] }
    let kept = longestRisingRun(targets)

    var stays = kept[...]
    for index in old.indices.reversed() {
      if stays.last == index { stays.removeLast() } else { patch.remove(at: index) }
      if bound.isExceeded(by: patch, of: whole, coding) { return false }
    }
    stays = kept[...]
    for (position, box) in new.enumerated() {
      if let index = stays.first, targets[index] == position {
        writeDifference(from: old[index], to: box, at: position, by: coding, &patch)
        stays.removeFirst()
      } else {
        patch.add(at: position) { coding.write(element(box), &$0) }
      }
      if bound.isExceeded(by: patch, of: whole, coding) { return false }
    }
    return true
  }
}

// MARK: - Bounding the length

extension ListVersion {
  /// A bound on the length of a list's operations: the length of the whole list.
  ///
  /// The length of the list is determined by writing it, but only as far as needed: each time twice
  /// the length of the operations so far. In total this costs little more than the operations
  /// themselves.
  private struct PatchBound {
    private let mark: JSONPatchWriter.Mark
    private let overhead: Int
    /// A lower bound of the list's length; 256 bytes if the list is shorter.
    private var least = 256

    init(_ patch: borrowing JSONPatchWriter) {
      mark = patch.mark
      overhead = patch.overhead
    }

    /// Returns true if the operations since the beginning are longer than the list.
    mutating func isExceeded(
      by patch: borrowing JSONPatchWriter, of order: @autoclosure () -> CountedTree<AnyBox>,
      _ coding: ElementCoding<Element>
    ) -> Bool {
      let written = patch.bytes(since: mark) - overhead
      guard written > least else { return false }
      let order = order()
      // Each element takes at least one byte and a comma.
      least = max(least, 2 * order.count)
      guard written > least else { return false }
      least = max(256, Self.length(of: order, coding, upTo: 2 * written))
      return written > least
    }

    private static func length(
      of order: CountedTree<AnyBox>, _ coding: ElementCoding<Element>, upTo most: Int
    ) -> Int {
      var writer = JSONWriter()
      var cursor = TreeCursor(order)
      var length = 2
      while let entry = cursor.entry, length < most {
        writer.removeAll()
        coding.write(element(entry.payload), &writer)
        length += writer.count + 1
        cursor.next()
      }
      return length
    }
  }
}

private func withAddress<Value: JSONDifferencing, Result>(
  of value: inout Value, _ body: (any JSONDifferencing.Type, UnsafeMutableRawPointer) -> Result
) -> Result {
  withUnsafeMutablePointer(to: &value) { body(Value.self, UnsafeMutableRawPointer($0)) }
}
