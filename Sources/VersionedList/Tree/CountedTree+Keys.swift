// SPDX-License-Identifier: Apache-2.0

// Access to entries by a unique key: an entry is found by its key and changed along the path by
// which it was found, or in the same descent. In the index of a list, the numbers of ids may be
// equal, and the results indicate that. In the order of a list, labels are always unique.
extension CountedTree {
  /// The result of a search for a key.
  enum Found<Value> {
    case nothing
    case one(Value)
    /// There is at least one entry, and possibly another one with the same key.
    case perhapsSeveral
  }

  /// Returns the payload of the entry with a key, and the path to the entry.
  func only(_ key: UInt64) -> Found<(payload: Payload, path: TreePath)> {
    guard let root else { return .nothing }
    return withExtendedLifetime(self) {
      var node = Unmanaged.passUnretained(root)
      var path = TreePath()
      var span = Span.unknown
      for _ in 0..<height {
        let inner = NodeContents<Branch>(of: node)
        let slot = Self.slot(of: key, in: inner, span)
        path.go(to: slot)
        span = Self.span(of: slot, in: inner, of: span)
        node = Self.child(of: inner, at: slot)
      }
      let leaf = NodeContents<Entry>(of: node)
      guard let index = Self.index(of: key, in: leaf, span) else { return .nothing }
      path.go(to: index)
      guard Self.isAlone(index, in: leaf, isFirst: path.isFirst(below: height + 1)) else {
        return .perhapsSeveral
      }
      return .one((leaf.address(of: index).pointee.payload, path))
    }
  }

  /// The position of an entry.
  struct Place {
    let rank: Int
    /// The previous key; nil if it is in another leaf.
    let below: UInt64?
    let path: TreePath
  }

  /// Calls `body` with the position and the payload of the entry with a key; returns nil if there
  /// is none.
  ///
  /// Neither the payload nor the nodes on the path are retained.
  ///
  /// - Precondition: No other entry has the key.
  func withEntry<Result>(
    of key: UInt64, _ body: (Place, AnyObject) -> Result?
  ) -> Result? where Payload == AnyBox {
    guard let root else { return nil }
    return withExtendedLifetime(self) {
      var node = Unmanaged.passUnretained(root)
      var (rank, total) = (0, count)
      var path = TreePath()
      var span = Span.unknown
      for _ in 0..<height {
        let inner = NodeContents<Branch>(of: node)
        let slot = Self.slot(of: key, in: inner, span)
        path.go(to: slot)
        rank &+= Self.entries(before: slot, of: total, in: inner)
        total = inner.address(of: slot).pointee.count
        span = Self.span(of: slot, in: inner, of: span)
        node = Self.child(of: inner, at: slot)
      }
      let leaf = NodeContents<Entry>(of: node)
      guard let index = Self.index(of: key, in: leaf, span) else { return nil }
      path.go(to: index)
      let place = Place(
        rank: rank + index, below: index > 0 ? leaf.address(of: index - 1).pointee.key : nil,
        path: path)
      return Self.payload(of: leaf.address(of: index))._withUnsafeGuaranteedRef {
        body(place, $0)
      }
    }
  }

  /// Returns the payload of the entry at a path.
  ///
  /// - Precondition: No entry was inserted or removed since the path was found.
  func payload(along path: TreePath) -> Payload {
    guard let root else {
      // There is no payload to return; the caller has a path that is no longer valid.
      preconditionFailure("an empty tree has no paths")
    }
    return withExtendedLifetime(self) {
      var node = Unmanaged.passUnretained(root)
      for height in stride(from: height, to: 0, by: -1) {
        let inner = NodeContents<Branch>(of: node)
        node = Self.child(of: inner, at: inner.slot(of: path, at: height))
      }
      let leaf = NodeContents<Entry>(of: node)
      return leaf.address(of: leaf.slot(of: path, at: 0)).pointee.payload
    }
  }

  /// Changes the payload of the entry at a path in place.
  ///
  /// - Precondition: No entry was inserted or removed since the path was found.
  mutating func update(along path: TreePath, _ change: (inout Payload) -> Void) {
    precondition(root != nil, "an empty tree has no paths")
    let height = height
    withUnsafeMutablePointer(to: &root) { root in
      // Optional and non-optional references have the same layout.
      var node = UnsafeMutableRawPointer(root).assumingMemoryBound(to: AnyObject.self)
      for height in stride(from: height, to: 0, by: -1) {
        let inner = Inner.own(&node.pointee)
        node = UnsafeMutableRawPointer(inner.address(of: inner.slot(of: path, at: height)))
          .assumingMemoryBound(to: AnyObject.self)
      }
      let leaf = Leaf.own(&node.pointee)
      change(&leaf[leaf.slot(of: path, at: 0)].payload)
    }
  }

  /// Removes the entry at a path and returns it.
  ///
  /// - Precondition: No entry was inserted or removed since the path was found.
  mutating func remove(along path: TreePath) -> Entry {
    precondition(root != nil, "an empty tree has no paths")
    let entry = Self.remove(along: path, from: &root!, height)
    removed()
    return entry
  }

  /// Inserts an entry at the position of its key, unless an entry has the same key.
  ///
  /// - Returns: True if the entry was inserted.
  mutating func insertOnly(_ entry: Entry) -> Bool {
    guard root != nil else {
      insert(entry, at: 0)
      return true
    }
    var sibling: Branch?
    guard Self.insertOnly(entry, into: &root!, height, .unknown, isLast: true, &sibling) else {
      return false
    }
    inserted(splitting: sibling)
    return true
  }

  /// Removes the entry with a key, if it is the only one that has it.
  mutating func removeIfOnly(_ key: UInt64) -> Found<Payload> {
    guard root != nil else { return .nothing }
    let found = Self.removeIfOnly(key, from: &root!, height, .unknown, isFirst: true)
    if case .one = found { removed() }
    return found
  }
}

extension CountedTree {
  /// Returns the index of an entry in the leaf that a key leads to; the last one of several with
  /// this key.
  private static func index(
    of key: UInt64, in leaf: NodeContents<Entry>, _ span: Span
  ) -> Int? {
    let index = index(above: key, in: leaf, span) - 1
    return index >= 0 && leaf.address(of: index).pointee.key == key ? index : nil
  }

  /// Returns true if the previous entry has another key, as far as the leaf shows.
  ///
  /// - Parameter isFirst: True if the entry is the first one of all, or is in the first leaf.
  private static func isAlone(
    _ index: Int, in leaf: NodeContents<Entry>, isFirst: Bool
  ) -> Bool {
    guard index > 0 else { return isFirst }
    return leaf.address(of: index - 1).pointee.key != leaf.address(of: index).pointee.key
  }

  private static func remove(
    along path: TreePath, from node: inout AnyObject, _ height: Int
  ) -> Entry {
    guard height > 0 else {
      let leaf = Leaf.own(&node)
      return leaf.remove(at: leaf.slot(of: path, at: 0))
    }
    let inner = Inner.own(&node)
    let slot = inner.slot(of: path, at: height)
    let removed = remove(along: path, from: &inner[slot].child, height - 1)
    lost(one: slot, of: inner, height, wasFirst: path.isFirst(below: height))
    return removed
  }

  private static func insertOnly(
    _ entry: Entry, into node: inout AnyObject, _ height: Int, _ span: Span, isLast: Bool,
    _ sibling: inout Branch?
  ) -> Bool {
    guard height > 0 else {
      let leaf = Leaf.own(&node)
      let index = index(above: entry.key, in: leaf, span)
      if index > 0, leaf.address(of: index - 1).pointee.key == entry.key { return false }
      sibling = leaf.insertSplitting(entry, at: index, isLast: isLast).map { Branch(of: $0) }
      return true
    }
    let inner = Inner.own(&node)
    let slot = slot(of: entry.key, in: inner, span)
    guard
      insertOnly(
        entry, into: &inner[slot].child, height - 1, Self.span(of: slot, in: inner, of: span),
        isLast: isLast && slot == inner.count - 1, &sibling)
    else { return false }
    inner[slot].count += 1
    if entry.key < inner[slot].key { inner[slot].key = entry.key }
    guard let below = sibling else { return true }
    inner[slot].count -= below.count
    sibling = inner.insertSplitting(below, at: slot + 1, isLast: isLast).map { Branch(of: $0) }
    return true
  }

  private static func removeIfOnly(
    _ key: UInt64, from node: inout AnyObject, _ height: Int, _ span: Span, isFirst: Bool
  ) -> Found<Payload> {
    guard height > 0 else {
      let leaf = Leaf.own(&node)
      guard let index = Self.index(of: key, in: leaf, span) else { return .nothing }
      guard Self.isAlone(index, in: leaf, isFirst: isFirst) else { return .perhapsSeveral }
      return .one(leaf.remove(at: index).payload)
    }
    let inner = Inner.own(&node)
    let slot = slot(of: key, in: inner, span)
    let found = removeIfOnly(
      key, from: &inner[slot].child, height - 1, Self.span(of: slot, in: inner, of: span),
      isFirst: isFirst && slot == 0)
    if case .one = found { lost(one: slot, of: inner, height, wasFirst: inner[slot].key == key) }
    return found
  }
}
