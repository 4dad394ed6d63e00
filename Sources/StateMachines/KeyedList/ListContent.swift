// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The elements of a `KeyedList` in their order, without the ids to find them by.
///
/// This is what a store keeps of a list that its subscribers hold. It never shares nodes with the
/// list itself for long: it is brought forward by the list's own changes.
struct ListContent<Element: Identifiable & Sendable>: Sendable where Element.ID == String {
  typealias Box = ElementBox<Element>

  /// Elements by label.
  var order = CountedTree<AnyBox>()
  /// What happened of late.
  var recent = RecentChanges()
  /// How elements are written, once one has been.
  // because it holds nothing but types, which are no `Sendable` values to the compiler.
  nonisolated(unsafe) private var coding: ElementCoding<Element>?

  var count: Int { order.count }

  /// Where the element with a label stands, if it has that id.
  func position(of id: String, labelled label: UInt64) -> Int? {
    order.withFirst(from: label) { position, box in
      unsafeDowncast(box, to: Box.self).element.id.hasSameBytes(as: id) ? position : nil
    }
  }

  /// The element in a box of this list.
  static func element(_ box: AnyBox) -> Element { unsafeDowncast(box, to: Box.self).element }
}

extension ListContent: JSONWritable, JSONDifferencing where Element: Encodable {
  func write(to writer: inout JSONWriter) {
    let encoding = JSONEncoding<Element>()
    writer.beginArray()
    order.visitPayloads { box in
      unsafeDowncast(box, to: Box.self).write(by: encoding, to: &writer)
    }
    writer.endArray()
  }

  var weight: Int { count }

  mutating func advance(
    to new: any JSONDifferencing, writing patch: inout JSONPatchWriter
  ) -> Bool {
    var new = new
    return ListContent.open(&new) { new in advance(to: new.pointee, writing: &patch) } ?? false
  }

  /// Brings what is held to a list as it is now, if it is such a list.
  static func advance(
    _ held: inout any JSONDifferencing, to new: ListStorage<Element>,
    writing patch: inout JSONPatchWriter
  ) -> Bool {
    open(&held) { $0.pointee.advance(to: new, writing: &patch) } ?? false
  }

  /// Calls `body` with where a list of this type stands; nil if it is something else.
  ///
  /// A cast would look for the type, and take a copy, which the list could not be changed under in
  /// place. Generic over what is found, so that all else is compiled for one type of elements.
  private static func open<Result>(
    _ value: inout any JSONDifferencing, _ body: (UnsafeMutablePointer<ListContent>) -> Result
  ) -> Result? {
    withAddress(of: &value) { type, address in
      type == ListContent.self ? body(address.assumingMemoryBound(to: ListContent.self)) : nil
    }
  }

  private mutating func advance(
    to new: ListStorage<Element>, writing patch: inout JSONPatchWriter
  ) -> Bool {
    // What happens most often, without a copy of anything else of the list.
    if let change = new.content.recent.only(since: recent.version) {
      apply(change, writing: &patch)
      recent.follow(origin: new.content.recent.origin, version: new.content.recent.version)
      return true
    }
    return advance(to: new.content, writing: &patch)
  }

  private mutating func advance(
    to new: ListContent, writing patch: inout JSONPatchWriter
  ) -> Bool {
    if let change = new.recent.only(since: recent.version) {
      apply(change, writing: &patch)
    } else if let changes = new.recent.since(recent.version) {
      if !changes.isEmpty { replay(changes, writing: &patch) }
    } else {
      guard compare(with: new, writing: &patch) else { return false }
      self = new
    }
    recent.follow(origin: new.recent.origin, version: new.recent.version)
    return true
  }
}

// MARK: - Following the list's own changes

extension ListContent where Element: Encodable {
  private mutating func apply(_ change: ListChange, writing patch: inout JSONPatchWriter) {
    switch change {
    case .insert(let position, let entry):
      order.insert(entry, at: position)
      let coding = elementCoding()
      patch.add(at: position) { coding.write(Self.element(entry.payload), &$0) }
    case .update(let position, let box):
      var old = box
      order.update(at: position) { swap(&$0.payload, &old) }
      Self.writeDifference(from: old, to: box, at: position, by: elementCoding(), &patch)
    case .remove(let position):
      order.remove(at: position)
      patch.remove(at: position)
    case .move(let from, let to, let label):
      var entry = order.remove(at: from)
      entry.key = label
      order.insert(entry, at: to)
      patch.move(from: from, to: to)
    case .relabel(let range, let low, let step):
      // Nothing that anybody sees, but labels stay comparable with the list's own.
      for (offset, rank) in range.enumerated() {
        order.update(at: rank) { $0.key = low + step * UInt64(offset + 1) }
      }
    }
  }

  private mutating func elementCoding() -> ElementCoding<Element> {
    if let coding { return coding }
    let made = ElementCoding<Element>()
    coding = made
    return made
  }

  /// Applies several changes, which may undo one another: nothing is written if in the end
  /// everything is where and what it was.
  private mutating func replay(
    _ changes: [ListChange], writing patch: inout JSONPatchWriter
  ) {
    let before = order
    let mark = patch.mark
    for change in changes { apply(change, writing: &patch) }
    // Holding the old tree made the changes copy their paths, so the two share all else: the
    // comparison costs what the changes cost.
    if Self.areSame(before, order, by: elementCoding()) { patch.truncate(to: mark) }
  }

  /// Whether two versions are the same elements in the same order, whatever their labels.
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
    // An element that cannot be encoded is shown as `null`; so nothing changes from one to another.
    switch (coding.state(element(old)), coding.state(element(new))) {
    case (nil, nil): break
    case (var before?, let after?): before.advance(to: after, writing: &patch)
    default: patch.replace { coding.write(element(new), &$0) }
    }
  }
}

// MARK: - Comparing with another version

extension ListContent where Element: Encodable {
  /// Writes the operations that lead to `new`; false if writing it whole is shorter.
  private mutating func compare(
    with new: ListContent, writing patch: inout JSONPatchWriter
  ) -> Bool {
    let coding = elementCoding()
    let isOneList = recent.origin == new.recent.origin
    if isOneList, Self.areSame(order, new.order, by: coding) { return true }
    let mark = patch.mark
    // Beyond this the operations are longer than the list.
    let most = max(16, new.count)
    let isShort =
      isOneList
      ? Self.merge(order, new.order, by: coding, writing: &patch, atMost: most)
      : align(with: new, by: coding, writing: &patch, atMost: most)
    if !isShort { patch.truncate(to: mark) }
    return isShort
  }

  /// Compares two versions of one list by their labels, passing over what they share.
  private static func merge(
    _ old: CountedTree<AnyBox>, _ new: CountedTree<AnyBox>, by coding: ElementCoding<Element>,
    writing patch: inout JSONPatchWriter, atMost most: Int
  ) -> Bool {
    let limit = patch.count + most
    var mine = TreeCursor(old)
    var theirs = TreeCursor(new)
    var position = 0
    while patch.count <= limit {
      position += TreeCursor.skipShared(&mine, &theirs)
      switch (mine.entry, theirs.entry) {
      case (nil, nil):
        return true
      case (let old?, let new?) where old.key == new.key:
        if element(old.payload).id.hasSameBytes(as: element(new.payload).id) {
          writeDifference(
            from: old.payload, to: new.payload, at: position, by: coding, &patch)
        } else {
          patch.replace(at: position) { coding.write(Self.element(new.payload), &$0) }
        }
        position += 1
        mine.next()
        theirs.next()
      case (let old, let new?) where old.map({ new.key < $0.key }) ?? true:
        patch.add(at: position) { coding.write(Self.element(new.payload), &$0) }
        position += 1
        theirs.next()
      default:
        patch.remove(at: position)
        mine.next()
      }
    }
    return false
  }

  /// Compares two lists that have nothing but ids in common.
  ///
  /// The longest run of elements that keep their order stays; all others are removed, last first,
  /// and added again where they belong.
  private func align(
    with new: ListContent, by coding: ElementCoding<Element>,
    writing patch: inout JSONPatchWriter, atMost most: Int
  ) -> Bool {
    let old = order.entries.map(\.payload)
    let new = new.order.entries.map(\.payload)
    let places = Dictionary(
      uniqueKeysWithValues: new.enumerated().map { (ByteString(Self.element($1).id), $0) })
    let targets = old.map { places[ByteString(Self.element($0).id)] }
    let kept = longestRisingRun(targets)
    guard old.count + new.count - 2 * kept.count <= most else { return false }

    var stays = kept[...]
    for index in old.indices.reversed() {
      if stays.last == index { stays.removeLast() } else { patch.remove(at: index) }
    }
    stays = kept[...]
    for (position, box) in new.enumerated() {
      if let index = stays.first, targets[index] == position {
        Self.writeDifference(from: old[index], to: box, at: position, by: coding, &patch)
        stays.removeFirst()
      } else {
        patch.add(at: position) { coding.write(Self.element(box), &$0) }
      }
    }
    return true
  }
}

private func withAddress<Value: JSONDifferencing, Result>(
  of value: inout Value, _ body: (any JSONDifferencing.Type, UnsafeMutableRawPointer) -> Result
) -> Result {
  withUnsafeMutablePointer(to: &value) { body(Value.self, UnsafeMutableRawPointer($0)) }
}
