// SPDX-License-Identifier: Apache-2.0

/// What a `KeyedList` is made of: the elements in their order, and where to find an id.
///
/// A list changes it in place while no other list has it.
final class ListStorage<Element: Identifiable & Sendable> where Element.ID == String {
  typealias Box = ListContent<Element>.Box

  /// The elements in their order, and what happened of late.
  private(set) var content: ListContent<Element>
  /// Labels by the hash of the id; equal hashes stand side by side.
  private(set) var index: CountedTree<UInt64>

  init() {
    content = ListContent()
    index = CountedTree()
  }

  init(copying other: ListStorage) {
    content = other.content
    index = other.index
  }

  /// The elements in order; of several with one id the last one counts, in the first one's place.
  convenience init(_ elements: some Sequence<Element>) {
    self.init()
    var order: [CountedTree<AnyBox>.Entry] = []
    var ids: [CountedTree<UInt64>.Entry] = []
    order.reserveCapacity(elements.underestimatedCount)
    ids.reserveCapacity(elements.underestimatedCount)
    for element in elements {
      let label = Labels.initial(for: order.count)
      order.append(.init(key: label, payload: Box(element)))
      ids.append(.init(key: Self.hash(element.id), payload: label))
    }
    ids.sort { ($0.key, $0.payload) < ($1.key, $1.payload) }
    // Twins have one hash; hashes that are equal by chance are as good as never there.
    guard zip(ids, ids.dropFirst()).allSatisfy({ $0.key != $1.key }) else {
      for entry in order { insert(ListContent<Element>.element(entry.payload), at: count) }
      return
    }
    content.order = CountedTree(sorted: order)
    index = CountedTree(sorted: ids)
  }
}

// MARK: - Reading

extension ListStorage {
  var count: Int { content.count }

  func position(of id: String) -> Int? { position(of: id, Self.hash(id)) }

  private func position(of id: String, _ hash: UInt64) -> Int? {
    switch index.only(hash) {
    case .nothing: nil
    case .one(let label): content.position(of: id, labelled: label)
    case .perhapsSeveral: locate(id, hash).position
    }
  }

  func element(at position: Int) -> Element {
    ListContent.element(content.order.entry(at: position).payload)
  }

  /// Where the element with an id stands, nil if there is none; and where its hash stands in the
  /// index, or would.
  private func locate(_ id: String, _ hash: UInt64) -> (position: Int?, slot: Int) {
    guard var (slot, entry) = index.first(from: hash) else { return (nil, index.count) }
    while entry.key == hash {
      if let position = content.position(of: id, labelled: entry.payload) {
        return (position, slot)
      }
      slot += 1
      guard slot < index.count else { break }
      entry = index.entry(at: slot)
    }
    return (nil, slot)
  }

  private static func hash(_ id: String) -> UInt64 {
    var hasher = Hasher()
    id.withBytes { hasher.combine(bytes: $0) }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

// MARK: - Changing

extension ListStorage {
  /// Puts an element at the end, unless there is one that has this id already.
  /// - Returns: Whether it was put there.
  func appendIfNew(_ element: Element) -> Bool {
    let hash = Self.hash(element.id)
    if insertIfAlone(element, at: count, hash) { return true }
    let (present, slot) = locate(element.id, hash)
    if present == nil { insert(element, at: count, hash, slot) }
    return present == nil
  }

  /// Puts an element at a position; one that has this id already is replaced where it stands.
  /// - Precondition: `position` is in `0...count`.
  func insert(_ element: Element, at position: Int) {
    let hash = Self.hash(element.id)
    if insertIfAlone(element, at: position, hash) { return }
    let (present, slot) = locate(element.id, hash)
    if let present { return replace(at: present, with: element) }
    insert(element, at: position, hash, slot)
  }

  /// Puts an element at a position if none has its hash.
  private func insertIfAlone(_ element: Element, at position: Int, _ hash: UInt64) -> Bool {
    let label: UInt64
    if let free = labelBetween(position) {
      label = free
    } else {
      // Room is made for what is new alone.
      guard case .nothing = index.only(hash) else { return false }
      label = freeLabel(at: position)
    }
    guard index.insertOnly(.init(key: hash, payload: label)) else { return false }
    let entry = CountedTree<AnyBox>.Entry(key: label, payload: Box(element))
    content.order.insert(entry, at: position)
    content.recent.append(.insert(position, entry))
    return true
  }

  private func insert(_ element: Element, at position: Int, _ hash: UInt64, _ slot: Int) {
    let entry = place(Box(element), at: position)
    index.insert(.init(key: hash, payload: entry.key), at: slot)
    content.recent.append(.insert(position, entry))
  }

  /// Changes the element with an id where it stands; its id stays what it is.
  /// - Returns: Whether there is one.
  func update(id: String, _ change: (inout Element) -> Void) -> Bool {
    let hash = Self.hash(id)
    let label: UInt64
    switch index.only(hash) {
    case .nothing: return false
    case .one(let found): label = found
    case .perhapsSeveral:
      guard let position = locate(id, hash).position else { return false }
      label = content.order.key(at: position)
    }
    var made: AnyBox?
    let position = content.order.updateOnly(label) { box in
      var element = ListContent<Element>.element(box)
      guard element.id.hasSameBytes(as: id) else { return false }
      change(&element)
      precondition(element.id.hasSameBytes(as: id), "an element keeps its id")
      box = Box(element)
      made = box
      return true
    }
    guard let position, let made else { return false }
    content.recent.append(.update(position, made))
    return true
  }

  /// Removes the element with an id.
  /// - Returns: The element, or nil if there is none.
  func remove(id: String) -> Element? {
    let hash = Self.hash(id)
    let removed: (rank: Int, payload: AnyBox)?
    switch index.removeIfOnly(hash) {
    case .nothing:
      return nil
    case .one(let label):
      removed = content.order.removeOnly(label) {
        ListContent<Element>.element($0).id.hasSameBytes(as: id)
      }
      // Of another id, which has the same hash by chance.
      if removed == nil { _ = index.insertOnly(.init(key: hash, payload: label)) }
    case .perhapsSeveral:
      let (position, slot) = locate(id, hash)
      removed = position.map { ($0, content.order.remove(at: $0).payload) }
      if removed != nil { index.remove(at: slot) }
    }
    guard let removed else { return nil }
    content.recent.append(.remove(removed.rank))
    return ListContent.element(removed.payload)
  }

  /// Moves an element before another one (nil: to the end).
  ///
  /// Nothing changes when either id is not there, or when the element already stands there.
  /// - Returns: Whether both are there.
  func move(id: String, before other: String?) -> Bool {
    let hash = Self.hash(id)
    guard let from = position(of: id, hash) else { return false }
    var to = count
    if let other {
      guard let position = position(of: other) else { return false }
      to = position
    }
    if to > from { to -= 1 }
    guard to != from else { return true }
    let old = content.order.remove(at: from)
    let label = place(old.payload, at: to).key
    relabel(hash, from: old.key, to: label)
    content.recent.append(.move(from: from, to: to, label: label))
    return true
  }

  private func replace(at position: Int, with element: Element) {
    let box = Box(element)
    content.order.update(at: position) { $0.payload = box }
    content.recent.append(.update(position, box))
  }

  /// Hangs a box into the order.
  private func place(_ box: AnyBox, at position: Int) -> CountedTree<AnyBox>.Entry {
    let entry = CountedTree<AnyBox>.Entry(key: freeLabel(at: position), payload: box)
    content.order.insert(entry, at: position)
    return entry
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
    if position == count { return Labels.between(content.order.lastKey, nil) }
    let (below, above) = content.order.keys(around: position)
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
      let low = range.lowerBound == 0 ? 0 : content.order.key(at: range.lowerBound - 1)
      let high =
        range.upperBound == count ? UInt64.max : content.order.key(at: range.upperBound)
      let step = (high - low) / UInt64(range.count + 1)
      if step >= roomy || range.count == count {
        for (offset, rank) in range.enumerated() {
          relabel(at: rank, to: low + step * UInt64(offset + 1))
        }
        content.recent.append(.relabel(range, low: low, step: step))
        return
      }
      radius *= 4
      roomy *= 2
    }
  }

  private func relabel(at rank: Int, to label: UInt64) {
    let entry = content.order.entry(at: rank)
    let hash = Self.hash(ListContent<Element>.element(entry.payload).id)
    relabel(hash, from: entry.key, to: label)
    content.order.update(at: rank) { $0.key = label }
  }

  /// Changes the label of an element in the index.
  private func relabel(_ hash: UInt64, from old: UInt64, to label: UInt64) {
    let isFound = index.updateOnly(hash) {
      guard $0 == old else { return false }
      $0 = label
      return true
    }
    if isFound != nil { return }
    var slot = index.rank(ofFirstKeyFrom: hash)
    while index.entry(at: slot).payload != old { slot += 1 }
    index.update(at: slot) { $0.payload = label }
  }
}

// because a list copies it before a change wherever another list has it too; what is in it is `Sendable`.
extension ListStorage: @unchecked Sendable {}
