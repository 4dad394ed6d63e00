// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The storage of a `KeyedList`: the elements in order, and an index of the ids, which are strings
/// here (`KeyedListID.keyText`).
///
/// A list changes it in place unless another list shares it.
final class ListStorage<Element: Identifiable & Sendable> where Element.ID: KeyedListID {
  typealias Box = ElementBox<Element>

  /// The elements in order and the change log.
  let history: ListHistory
  /// The labels, sorted by the number of the id (see `IDKey`); equal numbers are adjacent.
  private(set) var index: CountedTree<UInt64>

  private init(_ history: ListHistory, _ index: CountedTree<UInt64>) {
    self.history = history
    self.index = index
  }

  convenience init() { self.init(ListHistory(), CountedTree()) }

  convenience init(copying other: ListStorage) {
    self.init(ListHistory(copying: other.history), other.index)
  }

  /// Creates storage of elements in order. Of several elements with the same id, the last one is
  /// stored at the position of the first.
  convenience init(_ elements: [Element]) {
    var order: [CountedTree<AnyBox>.Entry] = []
    var ids: [CountedTree<UInt64>.Entry] = []
    order.reserveCapacity(elements.count)
    ids.reserveCapacity(elements.count)
    for element in elements {
      let label = Labels.initial(for: order.count)
      order.append(.init(key: label, payload: Box(element)))
      ids.append(.init(key: IDKey(Self.key(of: element)).number, payload: label))
    }
    ids.sort { ($0.key, $0.payload) < ($1.key, $1.payload) }
    // Equal ids have equal numbers. Numbers that are equal by chance almost never occur, so they
    // may take the slow path too.
    guard zip(ids, ids.dropFirst()).allSatisfy({ $0.key != $1.key }) else {
      self.init()
      for entry in order { insert(Self.element(entry.payload), at: count) }
      return
    }
    self.init(ListHistory(CountedTree(sorted: order)), CountedTree(sorted: ids))
  }
}

// MARK: - Reading

extension ListStorage {
  var count: Int { history.order.count }

  func position(of id: String) -> Int? { find(id, IDKey(id))?.place.rank }

  /// An element with its position.
  private struct Found {
    let place: CountedTree<AnyBox>.Place
    let label: UInt64
    /// The path to the label in the index; nil if other ids may have the same number.
    let indexed: TreePath?
    /// The box of the element, if it had to be read.
    let box: Box?
  }

  private func find(_ id: String, _ key: IDKey) -> Found? {
    switch index.only(key.number) {
    case .nothing: nil
    case .one(let (label, path)): find(id, key, labelled: label, indexed: path)
    case .perhapsSeveral: locate(id, key).found
    }
  }

  /// Returns the element with a label if it has that id.
  private func find(
    _ id: String, _ key: IDKey, labelled label: UInt64, indexed: TreePath? = nil
  ) -> Found? {
    history.order.withEntry(of: label) { place, box in
      guard !key.isExact else {
        return Found(place: place, label: label, indexed: indexed, box: nil)
      }
      let box = unsafeDowncast(box, to: Box.self)
      guard Self.key(of: box.element).hasSameBytes(as: id) else { return nil }
      return Found(place: place, label: label, indexed: indexed, box: box)
    }
  }

  private func element(_ found: Found) -> Element {
    found.box?.element ?? Self.element(history.order.payload(along: found.place.path))
  }

  func element(at position: Int) -> Element {
    Self.element(history.order.entry(at: position).payload)
  }

  /// Returns the string by which the list finds an element.
  static func key(of element: Element) -> String { element.id.keyText }

  /// Returns the element in a box of this list.
  static func element(_ box: AnyObject) -> Element { unsafeDowncast(box, to: Box.self).element }

  /// Returns the element with an id, nil if there is none; and the rank of its number in the index,
  /// or the rank at which it would be inserted.
  private func locate(_ id: String, _ key: IDKey) -> (found: Found?, slot: Int) {
    guard var (slot, entry) = index.first(from: key.number) else { return (nil, index.count) }
    while entry.key == key.number {
      if let found = find(id, key, labelled: entry.payload) { return (found, slot) }
      slot += 1
      guard slot < index.count else { break }
      entry = index.entry(at: slot)
    }
    return (nil, slot)
  }
}

// MARK: - Changing

extension ListStorage {
  /// Appends an element unless an element has the same id.
  ///
  /// - Returns: True if the element was appended.
  func appendIfNew(_ element: Element) -> Bool {
    let key = IDKey(Self.key(of: element))
    if insertIfAlone(element, at: count, key) { return true }
    let (present, slot) = locate(Self.key(of: element), key)
    if present == nil { insert(element, at: count, key, slot) }
    return present == nil
  }

  /// Inserts an element at a position; replaces an element with the same id at its position.
  ///
  /// - Precondition: `position` is in `0...count`.
  func insert(_ element: Element, at position: Int) {
    let key = IDKey(Self.key(of: element))
    if insertIfAlone(element, at: position, key) { return }
    let (present, slot) = locate(Self.key(of: element), key)
    if let present { return history.update(at: present.place, to: Box(element)) }
    insert(element, at: position, key, slot)
  }

  /// Inserts an element at a position if no other element has its number.
  private func insertIfAlone(_ element: Element, at position: Int, _ key: IDKey) -> Bool {
    let label: UInt64
    if let free = labelBetween(position) {
      label = free
    } else {
      // Labels are redistributed only for a new element.
      guard case .nothing = index.only(key.number) else { return false }
      label = freeLabel(at: position)
    }
    guard index.insertOnly(.init(key: key.number, payload: label)) else { return false }
    history.insert(Box(element), label: label, at: position)
    return true
  }

  private func insert(_ element: Element, at position: Int, _ key: IDKey, _ slot: Int) {
    let label = freeLabel(at: position)
    index.insert(.init(key: key.number, payload: label), at: slot)
    history.insert(Box(element), label: label, at: position)
  }

  /// Changes the element with an id at its position.
  ///
  /// - Returns: False if there is no such element.
  func update(id: String, _ change: (inout Element) -> Void) -> Bool {
    let key = IDKey(id)
    guard let found = find(id, key) else { return false }
    var element = element(found)
    // The position remains valid: the caller has exclusive access to the list, and this changes a
    // copy of the element.
    change(&element)
    precondition(
      Self.key(of: element).hasSameBytes(as: id), "the id of an element must not change")
    history.update(at: found.place, to: Box(element))
    return true
  }

  /// Removes the element with an id.
  /// - Returns: The element, or nil if there is none.
  func remove(id: String) -> Element? {
    let key = IDKey(id)
    let present: Found?
    switch index.removeIfOnly(key.number) {
    case .nothing:
      return nil
    case .one(let label):
      present = find(id, key, labelled: label)
      // The label belongs to another id that has the same number by chance.
      if present == nil { _ = index.insertOnly(.init(key: key.number, payload: label)) }
    case .perhapsSeveral:
      let (found, slot) = locate(id, key)
      present = found
      if found != nil { index.remove(at: slot) }
    }
    guard let present else { return nil }
    let removed = element(present)
    history.remove(at: present.place)
    return removed
  }

  /// Moves an element before another element, or to the end if `other` is nil.
  ///
  /// The list does not change if either id is unknown or if the element is already at that
  /// position.
  ///
  /// - Returns: False if either id is unknown.
  func move(id: String, before other: String?) -> Bool {
    let key = IDKey(id)
    guard let moved = find(id, key) else { return false }
    let from = moved.place.rank
    var gap = count
    var free: UInt64?
    if let other {
      guard let found = find(other, IDKey(other)) else { return false }
      gap = found.place.rank
      free = found.place.below.flatMap { Labels.between($0, found.label) }
    }
    // The element would be moved before itself or before its successor.
    guard gap != from, gap != from + 1 else { return true }
    let label = free ?? freeLabel(at: gap)
    // Both paths are still valid: redistributing labels does not change positions.
    if let path = moved.indexed {
      index.update(along: path) { $0 = label }
    } else {
      // Redistributing labels may have changed the element's label.
      relabel(key, from: history.order.key(at: from), to: label)
    }
    history.move(from: moved.place, to: gap > from ? gap - 1 : gap, label: label)
    return true
  }

  /// Returns a label between the neighbours of a position, after redistributing labels if there is
  /// none.
  private func freeLabel(at position: Int) -> UInt64 {
    while true {
      if let label = labelBetween(position) { return label }
      makeRoom(around: position)
    }
  }

  /// Returns a label between the neighbours of a position; nil if there is none.
  private func labelBetween(_ position: Int) -> UInt64? {
    if position == count { return Labels.between(history.order.lastKey, nil) }
    let (below, above) = history.order.keys(around: position)
    return Labels.between(below, above)
  }

  /// Distributes the labels of the smallest sufficiently sparse neighbourhood evenly.
  ///
  /// A wider neighbourhood must have a larger distance between labels, so that the narrow
  /// neighbourhoods inside it can fill up again before it is redistributed. Repeated insertion at
  /// one position therefore costs O(log² n) amortised, as in the usual list-order maintenance.
  private func makeRoom(around position: Int) {
    var radius = 16
    var minimumStep: UInt64 = 1 << 16
    while true {
      let range = Swift.max(0, position - radius)..<Swift.min(count, position + radius)
      let low = range.lowerBound == 0 ? 0 : history.order.key(at: range.lowerBound - 1)
      let high =
        range.upperBound == count ? UInt64.max : history.order.key(at: range.upperBound)
      let step = (high - low) / UInt64(range.count + 1)
      if step >= minimumStep || range.count == count {
        for (offset, rank) in range.enumerated() {
          relabel(at: rank, to: low + step * UInt64(offset + 1))
        }
        return
      }
      radius *= 4
      minimumStep *= 2
    }
  }

  private func relabel(at rank: Int, to label: UInt64) {
    let entry = history.order.entry(at: rank)
    let key = IDKey(Self.key(of: Self.element(entry.payload)))
    relabel(key, from: entry.key, to: label)
    history.relabel(at: rank, to: label)
  }

  /// Changes the label of an element in the index.
  private func relabel(_ key: IDKey, from old: UInt64, to label: UInt64) {
    if case .one((old, let path)) = index.only(key.number) {
      return index.update(along: path) { $0 = label }
    }
    var slot = index.rank(ofFirstKeyFrom: key.number)
    while index.entry(at: slot).payload != old { slot += 1 }
    index.update(at: slot) { $0.payload = label }
  }
}

// because a list copies it before a change if another list shares it; its contents are `Sendable`.
extension ListStorage: @unchecked Sendable {}
