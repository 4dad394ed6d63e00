// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The elements of a `KeyedList` in their order, without the ids to find them by.
///
/// This is what a store keeps of a list that its subscribers hold. It never shares nodes with the
/// list itself for long: it is brought forward by the list's own changes.
struct ListContent<Element: Identifiable & Sendable>: Sendable where Element.ID == String {
  /// An element by reference, so that moving tree nodes about touches one word of each.
  final class Box: Sendable {
    let element: Element
    init(_ element: Element) { self.element = element }
  }

  /// Elements by label.
  var order = CountedTree<Box>()
  /// What happened of late.
  var recent = RecentChanges<Box>()

  var count: Int { order.count }
}

extension ListContent: JSONWritable, JSONDifferencing where Element: Encodable {
  func write(to writer: inout JSONWriter) {
    writer.beginArray()
    order.forEach { entry in
      writer.encoding(entry.payload.element)
      return true
    }
    writer.endArray()
  }

  mutating func advance(to new: any JSONDifferencing, writing patch: inout JSONPatchWriter) -> Bool {
    guard let new = new as? ListContent else { return false }
    guard let changes = new.recent.since(recent.version) else {
      defer { self = new }
      return compare(with: new, writing: &patch)
    }
    if changes.count == 1 {
      apply(changes.first!.change, writing: &patch)
    } else if !changes.isEmpty {
      replay(changes.map(\.change), to: new, writing: &patch)
    }
    recent.follow(new.recent)
    return true
  }
}

// MARK: - Following the list's own changes

extension ListContent where Element: Encodable {
  private mutating func apply(_ change: ListChange<Box>, writing patch: inout JSONPatchWriter) {
    switch change {
    case .insert(let position, let entry):
      order.insert(entry, at: position)
      patch.add(at: position) { $0.encoding(entry.payload.element) }
    case .update(let position, let box):
      let old = order.entry(at: position).payload
      order.update(at: position) { $0.payload = box }
      Self.writeDifference(from: old, to: box, at: position, &patch)
    case .remove(let position):
      order.remove(at: position)
      patch.remove(at: position)
    case .move(let from, let to, let label):
      var entry = order.remove(at: from)
      entry.key = label
      order.insert(entry, at: to)
      patch.move(from: from, to: to)
    }
  }

  /// Applies several changes, which may undo one another: nothing is written if in the end
  /// everything is where and what it was.
  private mutating func replay(
    _ changes: [ListChange<Box>], to new: ListContent, writing patch: inout JSONPatchWriter
  ) {
    let before = order
    let mark = patch.mark
    for change in changes { apply(change, writing: &patch) }
    guard before.count == order.count else { return }
    // Holding the old tree made the changes copy their paths, so the two share all else: the
    // comparison costs what the changes cost.
    var comparison = JSONPatchWriter()
    Self.merge(before, order, writing: &comparison, atMost: .max)
    if comparison.isEmpty { patch.truncate(to: mark) }
  }

  private static func writeDifference(
    from old: Box, to new: Box, at position: Int, _ patch: inout JSONPatchWriter
  ) {
    guard old !== new else { return }
    patch.enter(index: position)
    defer { patch.leave() }
    do {
      var state = try JSONEncodedState(old.element)
      state.advance(to: try JSONEncodedState(new.element), writing: &patch)
    } catch {
      patch.replace { $0.encoding(new.element) }
    }
  }
}

// MARK: - Comparing with another version

extension ListContent where Element: Encodable {
  /// Writes the operations that lead to `new`; false if writing it whole is shorter.
  private func compare(with new: ListContent, writing patch: inout JSONPatchWriter) -> Bool {
    let mark = patch.mark
    // Beyond this the operations are longer than the list.
    let most = max(16, new.count)
    let isShort =
      recent.origin == new.recent.origin
      ? Self.merge(order, new.order, writing: &patch, atMost: most)
      : align(with: new, writing: &patch, atMost: most)
    if !isShort { patch.truncate(to: mark) }
    return isShort
  }

  /// Compares two versions of one list by their labels, passing over what they share.
  @discardableResult
  private static func merge(
    _ old: CountedTree<Box>, _ new: CountedTree<Box>, writing patch: inout JSONPatchWriter,
    atMost most: Int
  ) -> Bool {
    let end = patch.count.addingReportingOverflow(most)
    let limit = end.overflow ? Int.max : end.partialValue
    var mine = TreeCursor(old)
    var theirs = TreeCursor(new)
    var position = 0
    while patch.count <= limit {
      position += TreeCursor.skipShared(&mine, &theirs)
      switch (mine.entry, theirs.entry) {
      case (nil, nil):
        return true
      case (let old?, let new?) where old.key == new.key:
        if old.payload.element.id.hasSameBytes(as: new.payload.element.id) {
          writeDifference(from: old.payload, to: new.payload, at: position, &patch)
        } else {
          patch.replace(at: position) { $0.encoding(new.payload.element) }
        }
        position += 1
        mine.next()
        theirs.next()
      case (let old, let new?) where old.map({ new.key < $0.key }) ?? true:
        patch.add(at: position) { $0.encoding(new.payload.element) }
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
    with new: ListContent, writing patch: inout JSONPatchWriter, atMost most: Int
  ) -> Bool {
    let old = order.entries.map(\.payload)
    let new = new.order.entries.map(\.payload)
    let places = Dictionary(
      uniqueKeysWithValues: new.enumerated().map { (ByteString($1.element.id), $0) })
    let targets = old.map { places[ByteString($0.element.id)] }
    let kept = longestRisingRun(targets)
    guard old.count + new.count - 2 * kept.count <= most else { return false }

    var stays = kept[...]
    for index in old.indices.reversed() {
      if stays.last == index { stays.removeLast() } else { patch.remove(at: index) }
    }
    stays = kept[...]
    for (position, box) in new.enumerated() {
      if let index = stays.first, targets[index] == position {
        Self.writeDifference(from: old[index], to: box, at: position, &patch)
        stays.removeFirst()
      } else {
        patch.add(at: position) { $0.encoding(box.element) }
      }
    }
    return true
  }
}
