// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// What a `KeyedList` is made of: the elements in their order, and where to find an id.
///
/// A list changes it in place while no other list has it.
final class ListStorage<Element: Identifiable & Sendable> where Element.ID == String {
  typealias Box = ElementBox<Element>

  /// The elements in their order, and what happened of late.
  let history: ListHistory
  /// Labels by the number of the id (see `IDKey`); equal ones stand side by side.
  private(set) var index: CountedTree<UInt64>

  private init(_ history: ListHistory, _ index: CountedTree<UInt64>) {
    self.history = history
    self.index = index
  }

  convenience init() { self.init(ListHistory(), CountedTree()) }

  convenience init(copying other: ListStorage) {
    self.init(ListHistory(copying: other.history), other.index)
  }

  /// The elements in order; of several with one id the last one counts, in the first one's place.
  convenience init(_ elements: some Sequence<Element>) {
    var order: [CountedTree<AnyBox>.Entry] = []
    var ids: [CountedTree<UInt64>.Entry] = []
    order.reserveCapacity(elements.underestimatedCount)
    ids.reserveCapacity(elements.underestimatedCount)
    for element in elements {
      let label = Labels.initial(for: order.count)
      order.append(.init(key: label, payload: Box(element)))
      ids.append(.init(key: IDKey(element.id).number, payload: label))
    }
    ids.sort { ($0.key, $0.payload) < ($1.key, $1.payload) }
    // Twins have one number; numbers that are equal by chance are as good as never there.
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

  /// An element where it stands.
  private struct Found {
    let place: CountedTree<AnyBox>.Place
    let label: UInt64
    /// The path to the label in the index; nil where others may have the same number.
    let indexed: TreePath?
    /// What it is in, where that had to be looked at.
    let box: Box?
  }

  private func find(_ id: String, _ key: IDKey) -> Found? {
    switch index.only(key.number) {
    case .nothing: nil
    case .one(let (label, path)): find(id, key, labelled: label, indexed: path)
    case .perhapsSeveral: locate(id, key).found
    }
  }

  /// The element with a label, if it has that id.
  private func find(
    _ id: String, _ key: IDKey, labelled label: UInt64, indexed: TreePath? = nil
  ) -> Found? {
    history.order.withEntry(of: label) { place, box in
      guard !key.isExact else {
        return Found(place: place, label: label, indexed: indexed, box: nil)
      }
      let box = unsafeDowncast(box, to: Box.self)
      guard box.element.id.hasSameBytes(as: id) else { return nil }
      return Found(place: place, label: label, indexed: indexed, box: box)
    }
  }

  private func element(_ found: Found) -> Element {
    found.box?.element ?? Self.element(history.order.payload(along: found.place.path))
  }

  func element(at position: Int) -> Element {
    Self.element(history.order.entry(at: position).payload)
  }

  /// The element in a box of this list.
  static func element(_ box: AnyObject) -> Element { unsafeDowncast(box, to: Box.self).element }

  /// Where the element with an id stands, nil if there is none; and where its number stands in the
  /// index, or would.
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
  /// Puts an element at the end, unless there is one that has this id already.
  /// - Returns: Whether it was put there.
  func appendIfNew(_ element: Element) -> Bool {
    let key = IDKey(element.id)
    if insertIfAlone(element, at: count, key) { return true }
    let (present, slot) = locate(element.id, key)
    if present == nil { insert(element, at: count, key, slot) }
    return present == nil
  }

  /// Puts an element at a position; one that has this id already is replaced where it stands.
  /// - Precondition: `position` is in `0...count`.
  func insert(_ element: Element, at position: Int) {
    let key = IDKey(element.id)
    if insertIfAlone(element, at: position, key) { return }
    let (present, slot) = locate(element.id, key)
    if let present { return history.update(at: present.place, to: Box(element)) }
    insert(element, at: position, key, slot)
  }

  /// Puts an element at a position if none has its number.
  private func insertIfAlone(_ element: Element, at position: Int, _ key: IDKey) -> Bool {
    let label: UInt64
    if let free = labelBetween(position) {
      label = free
    } else {
      // Room is made for what is new alone.
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

  /// Changes the element with an id where it stands; its id stays what it is.
  /// - Returns: Whether there is one.
  func update(id: String, _ change: (inout Element) -> Void) -> Bool {
    let key = IDKey(id)
    guard let found = find(id, key) else { return false }
    var element = element(found)
    // The place stays what it is: whoever called has the list to itself, and this changes a copy.
    change(&element)
    precondition(element.id.hasSameBytes(as: id), "an element keeps its id")
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
      // Of another id, which has the same number by chance.
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

  /// Moves an element before another one (nil: to the end).
  ///
  /// Nothing changes when either id is not there, or when the element already stands there.
  /// - Returns: Whether both are there.
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
    // Before itself, or before what follows it.
    guard gap != from, gap != from + 1 else { return true }
    let label = free ?? freeLabel(at: gap)
    // Both paths still lead there: making room changes labels, and not where anything stands.
    if let path = moved.indexed {
      index.update(along: path) { $0 = label }
    } else {
      // Making room may have given the element another one.
      relabel(key, from: history.order.key(at: from), to: label)
    }
    history.move(from: moved.place, to: gap > from ? gap - 1 : gap, label: label)
    return true
  }

  /// A label between the neighbours of a position, after making room if there is none.
  private func freeLabel(at position: Int) -> UInt64 {
    while true {
      if let label = labelBetween(position) { return label }
      makeRoom(around: position)
    }
  }

  /// A label between the neighbours of a position, nil if there is none.
  private func labelBetween(_ position: Int) -> UInt64? {
    if position == count { return Labels.between(history.order.lastKey, nil) }
    let (below, above) = history.order.keys(around: position)
    return Labels.between(below, above)
  }

  /// Spreads the labels of the smallest neighbourhood that has room enough evenly.
  ///
  /// A wider neighbourhood must have more room for each label, so that the narrow ones inside it
  /// can fill up again before it is its turn: inserting at one place for ever costs O(log² n)
  /// amortised, as in the usual list-order maintenance.
  private func makeRoom(around position: Int) {
    var radius = 16
    var roomy: UInt64 = 1 << 16
    while true {
      let range = Swift.max(0, position - radius)..<Swift.min(count, position + radius)
      let low = range.lowerBound == 0 ? 0 : history.order.key(at: range.lowerBound - 1)
      let high =
        range.upperBound == count ? UInt64.max : history.order.key(at: range.upperBound)
      let step = (high - low) / UInt64(range.count + 1)
      if step >= roomy || range.count == count {
        for (offset, rank) in range.enumerated() {
          relabel(at: rank, to: low + step * UInt64(offset + 1))
        }
        return
      }
      radius *= 4
      roomy *= 2
    }
  }

  private func relabel(at rank: Int, to label: UInt64) {
    let entry = history.order.entry(at: rank)
    let key = IDKey(Self.element(entry.payload).id)
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

// because a list copies it before a change wherever another list has it too; what is in it is `Sendable`.
extension ListStorage: @unchecked Sendable {}
