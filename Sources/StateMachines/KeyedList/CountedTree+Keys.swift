// SPDX-License-Identifier: Apache-2.0

// Entries whose key no other entry has, found and changed by it: on one way down, where a rank would have
// to be found on another one first. For the index of a list, which wants ranks where hashes are equal alone.
extension CountedTree {
  /// What a key leads to.
  enum Found<Value> {
    case nothing
    case one(Value)
    /// There is at least one, and may be another one beside it.
    case perhapsSeveral
  }

  /// The payload of the entry with a key.
  func only(_ key: UInt64) -> Found<Payload> {
    guard let root else { return .nothing }
    return withExtendedLifetime(self) {
      var node = Unmanaged.passUnretained(root)
      var isFirst = true
      var span = Span.unknown
      for _ in 0..<height {
        let inner = NodeContents<Branch>(of: node)
        let slot = Self.slot(of: key, in: inner, span)
        isFirst = isFirst && slot == 0
        span = Self.span(of: slot, in: inner, of: span)
        node = Self.child(of: inner, at: slot)
      }
      let leaf = NodeContents<Entry>(of: node)
      guard let index = Self.index(of: key, in: leaf, span) else { return .nothing }
      guard Self.isAlone(index, in: leaf, isFirst: isFirst) else { return .perhapsSeveral }
      return .one(leaf.address(of: index).pointee.payload)
    }
  }

  /// Changes the payload of the entry with a key, in place.
  ///
  /// - Parameter change: Answers whether it is that entry; it changes nothing if not.
  /// - Returns: Whether there is one. Of several with the key the last one is asked.
  mutating func updateOnly(_ key: UInt64, _ change: (inout Payload) -> Bool) -> Bool {
    guard root != nil else { return false }
    let (height, key) = (height, key)
    return withUnsafeMutablePointer(to: &root) { root in
      // Optional and plain references look alike.
      var node = UnsafeMutableRawPointer(root).assumingMemoryBound(to: AnyObject.self)
      var span = Span.unknown
      for _ in 0..<height {
        let inner = Inner.own(&node.pointee)
        let slot = Self.slot(of: key, in: inner, span)
        span = Self.span(of: slot, in: inner, of: span)
        node = UnsafeMutableRawPointer(inner.address(of: slot))
          .assumingMemoryBound(to: AnyObject.self)
      }
      let leaf = Leaf.own(&node.pointee)
      guard let index = Self.index(of: key, in: leaf, span) else { return false }
      return change(&leaf[index].payload)
    }
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
  /// - Parameter isFirst: Whether no other leaf stands before that.
  private static func isAlone(
    _ index: Int, in leaf: NodeContents<Entry>, isFirst: Bool
  ) -> Bool {
    guard index > 0 else { return isFirst }
    return leaf.address(of: index - 1).pointee.key != leaf.address(of: index).pointee.key
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
