// SPDX-License-Identifier: Apache-2.0

/// A persistent ordered tree: entries sorted by a 64-bit key, found by key or by rank.
///
/// It is a B-tree whose inner nodes store the number of entries below each child. A key is
/// converted to a rank, and a rank to an entry, in O(log n). Copying the tree shares all nodes. A
/// node that is not shared is changed in place; a shared node is copied first. An old version is
/// therefore not affected by a change, and shares every node that the change did not touch.
///
/// Equal keys are allowed. Entries are inserted by rank, so the caller determines the order of
/// equal keys.
///
/// Every node has at least `TreeNode.minimum` entries or children, except the root and the nodes at
/// the right edge, whose size depends on appending and building.
struct CountedTree<Payload> {
  struct Entry {
    var key: UInt64
    var payload: Payload
  }

  /// The entry of an inner node for a child: the child, its smallest key, and its total number of
  /// entries.
  struct Branch {
    // The first member, so that it can be read in place; see `child(of:at:)`.
    var child: AnyObject
    var key: UInt64
    var count: Int
  }

  typealias Leaf = TreeNode<Entry>
  typealias Inner = TreeNode<Branch>

  /// A `Leaf` at height 0, an `Inner` above; nil for the empty tree.
  var root: AnyObject?
  private(set) var height = 0
  private(set) var count = 0

  init() {}

  /// Builds the tree from entries in key order.
  ///
  /// - Complexity: O(n).
  init(sorted entries: some Sequence<Entry>) {
    var level: [Branch] = []
    var leaf = Leaf.make()
    func close(_ leaf: Leaf) { level.append(Branch(of: leaf)) }
    for entry in entries {
      if leaf.contents.isFull {
        close(leaf)
        leaf = Leaf.make()
      }
      leaf.contents.insert(entry, at: leaf.count)
      count += 1
    }
    guard count > 0 else { return }
    close(level.isEmpty ? leaf.fitted() : leaf)
    while level.count > 1 {
      var above: [Branch] = []
      var inner = Inner.make()
      for branch in level {
        if inner.contents.isFull {
          above.append(Branch(of: inner))
          inner = Inner.make()
        }
        inner.contents.insert(branch, at: inner.count)
      }
      above.append(Branch(of: inner))
      level = above
      height += 1
    }
    root = level[0].child
  }
}

extension CountedTree.Branch {
  init(of leaf: CountedTree.Leaf) {
    self.init(child: leaf, key: leaf[0].key, count: leaf.count)
  }

  init(of inner: CountedTree.Inner) {
    var count = 0
    for index in 0..<inner.count { count += inner[index].count }
    self.init(child: inner, key: inner[0].key, count: count)
  }
}

// MARK: - Reading

extension CountedTree {
  /// Returns the entry at a rank.
  ///
  /// - Precondition: `rank` is in `0..<count`.
  func entry(at rank: Int) -> Entry {
    withExtendedLifetime(self) { place(at: rank).entry.pointee }
  }

  /// Returns the key of the entry at a rank.
  ///
  /// - Precondition: `rank` is in `0..<count`.
  func key(at rank: Int) -> UInt64 {
    withExtendedLifetime(self) { place(at: rank).entry.pointee.key }
  }

  /// Returns the key of the entry at a rank, and the previous key; nil if the entry is the first.
  ///
  /// - Precondition: `rank` is in `0..<count`.
  func keys(around rank: Int) -> (below: UInt64?, above: UInt64) {
    withExtendedLifetime(self) {
      let (entry, index) = place(at: rank)
      guard index == 0 else { return ((entry - 1).pointee.key, entry.pointee.key) }
      return (rank == 0 ? nil : place(at: rank - 1).entry.pointee.key, entry.pointee.key)
    }
  }

  /// The largest key; nil in an empty tree.
  var lastKey: UInt64? {
    guard let root else { return nil }
    return withExtendedLifetime(self) {
      var node = Unmanaged.passUnretained(root)
      for _ in 0..<height {
        let inner = NodeContents<Branch>(of: node)
        node = Self.child(of: inner, at: inner.count - 1)
      }
      let leaf = NodeContents<Entry>(of: node)
      return leaf.address(of: leaf.count - 1).pointee.key
    }
  }

  /// Returns the address of the entry at a rank, and its index in its leaf.
  private func place(at rank: Int) -> (entry: UnsafeMutablePointer<Entry>, index: Int) {
    precondition(rank >= 0 && rank < count, "rank out of bounds")
    var rank = rank
    var total = count
    var node = Unmanaged.passUnretained(root.unsafelyUnwrapped)
    for _ in 0..<height {
      let inner = NodeContents<Branch>(of: node)
      let slot = Self.slot(of: &rank, of: total, in: inner)
      total = inner.address(of: slot).pointee.count
      node = Self.child(of: inner, at: slot)
    }
    return (NodeContents<Entry>(of: node).address(of: rank), rank)
  }

  /// Returns the rank of the first entry whose key is not below `key`; `count` if there is none.
  func rank(ofFirstKeyFrom key: UInt64) -> Int {
    withExtendedLifetime(self) { place(ofFirstKeyFrom: key)?.rank ?? 0 }
  }

  /// Returns the first entry whose key is not below `key`, with its rank; nil if there is none.
  func first(from key: UInt64) -> (rank: Int, entry: Entry)? {
    withExtendedLifetime(self) {
      guard let (rank, leaf, index) = place(ofFirstKeyFrom: key) else { return nil }
      if index < leaf.count { return (rank, leaf[index]) }
      // It is the first entry of the next leaf, if there is one.
      return rank < count ? (rank, entry(at: rank)) : nil
    }
  }

  /// Returns a payload without retaining it.
  static func payload(
    of entry: UnsafeMutablePointer<Entry>
  ) -> Unmanaged<AnyObject> where Payload == AnyBox {
    assert(MemoryLayout<Entry>.offset(of: \.payload) == MemoryLayout<UInt64>.size)
    return (UnsafeRawPointer(entry) + MemoryLayout<UInt64>.size).load(as: Unmanaged<AnyObject>.self)
  }

  /// Returns the position of the first entry whose key is not below `key`, in the leaf in which a
  /// smaller key would be the last; nil in an empty tree.
  private func place(
    ofFirstKeyFrom key: UInt64
  ) -> (rank: Int, leaf: NodeContents<Entry>, index: Int)? {
    guard let root else { return nil }
    var node = Unmanaged.passUnretained(root)
    var rank = 0
    var total = count
    var span = Span.unknown
    // Equal keys may be on both sides of a boundary, so the search takes the last child whose first
    // key is below the key.
    let below = key == 0 ? 0 : key - 1
    for _ in 0..<height {
      let inner = NodeContents<Branch>(of: node)
      let slot = key == 0 ? 0 : Self.slot(of: below, in: inner, span)
      rank &+= Self.entries(before: slot, of: total, in: inner)
      total = inner.address(of: slot).pointee.count
      span = Self.span(of: slot, in: inner, of: span)
      node = Self.child(of: inner, at: slot)
    }
    let leaf = NodeContents<Entry>(of: node)
    let index = key == 0 ? 0 : Self.index(above: below, in: leaf, span)
    return (rank + index, leaf, index)
  }

  static func leaf(_ node: AnyObject) -> Leaf { unsafeDowncast(node, to: Leaf.self) }
  static func inner(_ node: AnyObject) -> Inner { unsafeDowncast(node, to: Inner.self) }
}

// MARK: - Changing

extension CountedTree {
  /// Inserts an entry at a rank.
  ///
  /// - Precondition: The keys remain in order.
  mutating func insert(_ entry: Entry, at rank: Int) {
    precondition(rank >= 0 && rank <= count, "rank out of bounds")
    guard root != nil else {
      let leaf = Leaf.make(room: 4)
      leaf.contents.insert(entry, at: 0)
      root = leaf
      return inserted(splitting: nil)
    }
    inserted(
      splitting: Self.insert(entry, at: rank, of: count, into: &root!, height, isLast: true))
  }

  /// Counts an inserted entry; if the insertion has split the root, creates a root above both
  /// halves.
  mutating func inserted(splitting sibling: Branch?) {
    count += 1
    guard let sibling else { return }
    let inner = Inner.make()
    inner.contents.insert(branch(of: root!, height), at: 0)
    inner.contents.insert(sibling, at: 1)
    root = inner
    height += 1
  }

  /// Changes the entry at a rank in place.
  mutating func update(at rank: Int, _ change: (inout Entry) -> Void) {
    precondition(rank >= 0 && rank < count, "rank out of bounds")
    Self.update(at: rank, of: count, in: &root!, height, change)
  }

  /// Removes the entry at a rank and returns it.
  @discardableResult
  mutating func remove(at rank: Int) -> Entry {
    precondition(rank >= 0 && rank < count, "rank out of bounds")
    let entry = Self.remove(at: rank, of: count, from: &root!, height)
    removed()
    return entry
  }

  /// Counts a removed entry and releases a root that is no longer needed.
  mutating func removed() {
    count -= 1
    while height > 0, Self.inner(root!).count == 1 {
      root = Self.inner(root!)[0].child
      height -= 1
    }
    if count == 0 {
      root = nil
      height = 0
    }
  }

  private func branch(of node: AnyObject, _ height: Int) -> Branch {
    height == 0 ? Branch(of: Self.leaf(node)) : Branch(of: Self.inner(node))
  }

  private static func insert(
    _ entry: Entry, at rank: Int, of total: Int, into node: inout AnyObject, _ height: Int,
    isLast: Bool
  ) -> Branch? {
    guard height > 0 else {
      let leaf = Leaf.own(&node)
      guard let right = leaf.insertSplitting(entry, at: rank, isLast: isLast) else { return nil }
      return Branch(of: right)
    }
    let inner = Inner.own(&node)
    var rank = rank
    let slot = slot(ofNew: &rank, of: total, in: inner)
    let isLastChild = isLast && slot == inner.count - 1
    let sibling = insert(
      entry, at: rank, of: inner[slot].count, into: &inner[slot].child, height - 1,
      isLast: isLastChild)
    inner[slot].count += 1
    if rank == 0 { inner[slot].key = entry.key }
    guard let sibling else { return nil }
    inner[slot].count -= sibling.count
    guard let right = inner.insertSplitting(sibling, at: slot + 1, isLast: isLast) else {
      return nil
    }
    return Branch(of: right)
  }

  private static func update(
    at rank: Int, of total: Int, in node: inout AnyObject, _ height: Int,
    _ change: (inout Entry) -> Void
  ) {
    guard height > 0 else {
      change(&Leaf.own(&node)[rank])
      return
    }
    let inner = Inner.own(&node)
    var rank = rank
    let slot = slot(of: &rank, of: total, in: inner)
    update(at: rank, of: inner[slot].count, in: &inner[slot].child, height - 1, change)
    if rank == 0 { inner[slot].key = firstKey(child(of: inner, at: slot), height - 1) }
  }

  private static func remove(
    at rank: Int, of total: Int, from node: inout AnyObject, _ height: Int
  ) -> Entry {
    guard height > 0 else { return Leaf.own(&node).remove(at: rank) }
    let inner = Inner.own(&node)
    var rank = rank
    let slot = slot(of: &rank, of: total, in: inner)
    let removed = remove(at: rank, of: inner[slot].count, from: &inner[slot].child, height - 1)
    lost(one: slot, of: inner, height, wasFirst: rank == 0)
    return removed
  }

  /// Updates an inner node after an entry of a child was removed.
  ///
  /// - Parameter wasFirst: True if it was the child's first entry.
  static func lost(one slot: Int, of inner: NodeContents<Branch>, _ height: Int, wasFirst: Bool) {
    inner[slot].count -= 1
    if inner[slot].count == 0 {
      _ = inner.remove(at: slot)
    } else {
      if wasFirst { inner[slot].key = firstKey(child(of: inner, at: slot), height - 1) }
      mend(inner, slot, height - 1)
    }
  }

  private static func firstKey(_ node: Unmanaged<AnyObject>, _ height: Int) -> UInt64 {
    height == 0
      ? NodeContents<Entry>(of: node).address(of: 0).pointee.key
      : NodeContents<Branch>(of: node).address(of: 0).pointee.key
  }

  /// Joins a child that has become small with a neighbour, or distributes their entries evenly.
  private static func mend(_ inner: NodeContents<Branch>, _ slot: Int, _ height: Int) {
    guard inner.count > 1 else { return }
    let left = slot == 0 ? 0 : slot - 1
    func mend<Element>(_ type: TreeNode<Element>.Type, _ branch: (TreeNode<Element>) -> Branch) {
      let small = NodeContents<Element>(of: child(of: inner, at: slot))
      guard small.count < TreeNode<Element>.minimum else { return }
      let first = type.ownWhole(&inner[left].child)
      let second = type.ownWhole(&inner[left + 1].child)
      let isEmpty = first.join(second)
      inner[left] = branch(unsafeDowncast(inner[left].child, to: type))
      if isEmpty {
        _ = inner.remove(at: left + 1)
      } else {
        inner[left + 1] = branch(unsafeDowncast(inner[left + 1].child, to: type))
      }
    }
    if height == 0 {
      mend(Leaf.self) { Branch(of: $0) }
    } else {
      mend(Inner.self) { Branch(of: $0) }
    }
  }
}

// Nodes are changed only by a tree that has the only reference to them (see `TreeNode.own`), so
// copies on different threads never see each other's changes.
extension CountedTree: @unchecked Sendable where Payload: Sendable {}
extension CountedTree.Entry: Sendable where Payload: Sendable {}
