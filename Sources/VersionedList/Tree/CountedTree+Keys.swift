// SPDX-License-Identifier: Apache-2.0

// Entries whose key no other entry has, found by it; and changed along the path by which they were found, or
// on the one way down that finds them. In the index of a list numbers of ids may be equal, so it is told
// where that may be; in its order labels never are.
extension CountedTree {
  /// What a key leads to.
  enum Found<Value> {
    case nothing
    case one(Value)
    /// There is at least one, and may be another one beside it.
    case perhapsSeveral
  }

  /// The payload of the entry with a key, and the path to it.
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

  /// Where an entry stands.
  struct Place {
    let rank: Int
    /// The key before its own; nil where that stands in another leaf.
    let below: UInt64?
    let path: TreePath
  }

  /// Calls `body` with where the entry of a key stands, and its payload; nil if there is none.
  ///
  /// The payload is not counted, as little as the nodes on the way to it.
  /// - Precondition: no other entry has the key.
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

  /// The payload of the entry that a path leads to.
  /// - Precondition: nothing was inserted or removed since the path was found.
  func payload(along path: TreePath) -> Payload {
    guard let root else {
      // There is no payload to be given, and whoever asks has a place that is no more.
      preconditionFailure("no path leads into an empty tree")
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

  /// Changes the payload of the entry that a path leads to, in place.
  /// - Precondition: nothing was inserted or removed since the path was found.
  mutating func update(along path: TreePath, _ change: (inout Payload) -> Void) {
    precondition(root != nil, "no path leads into an empty tree")
    let height = height
    withUnsafeMutablePointer(to: &root) { root in
      // Optional and plain references look alike.
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

  /// Removes the entry that a path leads to, and returns it.
  /// - Precondition: nothing was inserted or removed since the path was found.
  mutating func remove(along path: TreePath) -> Entry {
    precondition(root != nil, "no path leads into an empty tree")
    let entry = Self.remove(along: path, from: &root!, height)
    removed()
    return entry
  }

  /// Inserts an entry where its key belongs, unless there is one that has this key.
  /// - Returns: Whether it was inserted.
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
  /// Where an entry with a key stands in the leaf that the key leads to, the last one of several.
  private static func index(
    of key: UInt64, in leaf: NodeContents<Entry>, _ span: Span
  ) -> Int? {
    let index = index(above: key, in: leaf, span) - 1
    return index >= 0 && leaf.address(of: index).pointee.key == key ? index : nil
  }

  /// Whether no entry before one has its key, as far as can be seen from its leaf.
  /// - Parameter isFirst: Whether it is the first entry of all, or stands in the first leaf.
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
