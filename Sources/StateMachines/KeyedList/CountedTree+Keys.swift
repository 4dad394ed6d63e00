// SPDX-License-Identifier: Apache-2.0

// Entries whose key no other entry has, found and changed by it: on one way down, where a rank would have
// to be found on another one first.
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
      var end: UInt64?
      for _ in 0..<height {
        let inner = NodeContents<Branch>(of: node)
        let slot = Self.slot(of: key, in: inner)
        isFirst = isFirst && slot == 0
        end = Self.end(of: slot, in: inner) ?? end
        node = Self.child(of: inner, at: slot)
      }
      let leaf = NodeContents<Entry>(of: node)
      guard let index = Self.index(of: key, in: leaf, before: end) else { return .nothing }
      guard Self.isAlone(index, in: leaf, isFirst: isFirst) else { return .perhapsSeveral }
      return .one(leaf.address(of: index).pointee.payload)
    }
  }

  /// Changes the payload of the entry with a key, in place.
  ///
  /// - Parameter change: Answers whether it is that entry; it changes nothing if not.
  /// - Returns: The entry's rank; nil if there is none. Of several with the key the last one is asked.
  mutating func updateOnly(_ key: UInt64, _ change: (inout Payload) -> Bool) -> Int? {
    guard root != nil else { return nil }
    var rank = 0
    var total = count
    let (height, key) = (height, key)
    return withUnsafeMutablePointer(to: &root) { root in
      // Optional and plain references look alike.
      var node = UnsafeMutableRawPointer(root).assumingMemoryBound(to: AnyObject.self)
      var end: UInt64?
      for _ in 0..<height {
        let inner = Inner.own(&node.pointee)
        let slot = Self.slot(of: key, in: inner)
        rank &+= Self.entries(before: slot, of: total, in: inner)
        end = Self.end(of: slot, in: inner) ?? end
        let branch = inner.address(of: slot)
        total = branch.pointee.count
        node = UnsafeMutableRawPointer(branch).assumingMemoryBound(to: AnyObject.self)
      }
      let leaf = Leaf.own(&node.pointee)
      guard
        let index = Self.index(of: key, in: leaf, before: end), change(&leaf[index].payload)
      else { return nil }
      return rank + index
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
    guard Self.insertOnly(entry, into: &root!, height, isLast: true, &sibling) else { return false }
    inserted(splitting: sibling)
    return true
  }

  /// Removes the entry with a key.
  ///
  /// - Parameter isIt: Whether an entry with this key is the one.
  /// - Returns: Its rank and its payload; nil if it is not there. Of several with the key the last one is
  ///   asked.
  mutating func removeOnly(
    _ key: UInt64, where isIt: (Payload) -> Bool
  ) -> (rank: Int, payload: Payload)? {
    guard root != nil else { return nil }
    var rank: Int? = 0
    let found = Self.removeOnly(
      key, of: count, from: &root!, height, isFirst: true, counting: &rank,
      where: isIt, evenIfSeveral: true)
    guard case .one(let payload) = found, let rank else { return nil }
    removed()
    return (rank, payload)
  }

  /// Removes the entry with a key, if it is the only one that has it.
  mutating func removeIfOnly(_ key: UInt64) -> Found<Payload> {
    guard root != nil else { return .nothing }
    var rank: Int?
    let found = Self.removeOnly(
      key, of: count, from: &root!, height, isFirst: true, counting: &rank,
      where: { _ in true }, evenIfSeveral: false)
    if case .one = found { removed() }
    return found
  }
}

extension CountedTree {
  /// The last child that does not begin above a key; the first one if all do.
  private static func slot(of key: UInt64, in inner: NodeContents<Branch>) -> Int {
    max(0, inner.firstIndex { $0.pointee.key > key } - 1)
  }

  /// Where an entry with a key stands in the leaf that the key leads to, the last one of several.
  private static func index(
    of key: UInt64, in leaf: NodeContents<Entry>, before end: UInt64? = nil
  ) -> Int? {
    let index = index(above: key, in: leaf, before: end) - 1
    return index >= 0 && leaf.address(of: index).pointee.key == key ? index : nil
  }

  /// The key that the child behind one begins with; nil behind the last one.
  static func end(of slot: Int, in inner: NodeContents<Branch>) -> UInt64? {
    slot + 1 < inner.count ? inner.address(of: slot + 1).pointee.key : nil
  }

  /// The index of the first entry of a leaf that stands above a key.
  ///
  /// Looked for first where it would be if the keys were spread evenly, as hashes are and labels most
  /// often. In a long list a leaf is in no cache, and bisection fetches another line of it at each step.
  ///
  /// - Parameter end: No key in the leaf is above it; nil where that is not known.
  static func index(above key: UInt64, in leaf: NodeContents<Entry>, before end: UInt64?) -> Int {
    let count = leaf.count
    guard let end, count > stepsByEye, case let first = leaf.address(of: 0).pointee.key,
      first <= key, key < end
    else { return leaf.firstIndex { $0.pointee.key > key } }
    // Less than the count, since the one factor is less than the divisor.
    let product = (key - first).multipliedFullWidth(by: UInt64(count))
    var index = Int((end - first).dividingFullWidth(product).quotient)
    for _ in 0..<stepsByEye {
      if index > 0, leaf.address(of: index - 1).pointee.key > key {
        index -= 1
      } else if index < count, leaf.address(of: index).pointee.key <= key {
        index += 1
      } else {
        return index
      }
    }
    return leaf.firstIndex { $0.pointee.key > key }
  }

  // Two lines of a cache, to either side.
  private static var stepsByEye: Int { 8 }

  /// Whether no entry before one has its key, as far as can be seen from its leaf.
  /// - Parameter isFirst: Whether no other leaf stands before that.
  private static func isAlone(
    _ index: Int, in leaf: NodeContents<Entry>, isFirst: Bool
  ) -> Bool {
    guard index > 0 else { return isFirst }
    return leaf.address(of: index - 1).pointee.key != leaf.address(of: index).pointee.key
  }

  private static func insertOnly(
    _ entry: Entry, into node: inout AnyObject, _ height: Int, isLast: Bool,
    _ sibling: inout Branch?
  ) -> Bool {
    guard height > 0 else {
      let leaf = Leaf.own(&node)
      let index = leaf.firstIndex { $0.pointee.key > entry.key }
      if index > 0, leaf.address(of: index - 1).pointee.key == entry.key { return false }
      sibling = leaf.insertSplitting(entry, at: index, isLast: isLast).map { Branch(of: $0) }
      return true
    }
    let inner = Inner.own(&node)
    let slot = slot(of: entry.key, in: inner)
    guard
      insertOnly(
        entry, into: &inner[slot].child, height - 1, isLast: isLast && slot == inner.count - 1,
        &sibling)
    else { return false }
    inner[slot].count += 1
    if entry.key < inner[slot].key { inner[slot].key = entry.key }
    guard let below = sibling else { return true }
    inner[slot].count -= below.count
    sibling = inner.insertSplitting(below, at: slot + 1, isLast: isLast).map { Branch(of: $0) }
    return true
  }

  /// - Parameters:
  ///   - rank: The rank of what is removed is added to it, where it is wanted.
  ///   - isIt: Whether an entry with the key is the one.
  ///   - evenIfSeveral: Whether it does not matter that there may be another one.
  private static func removeOnly(
    _ key: UInt64, of total: Int, from node: inout AnyObject, _ height: Int, isFirst: Bool,
    counting rank: inout Int?, where isIt: (Payload) -> Bool, evenIfSeveral: Bool
  ) -> Found<Payload> {
    guard height > 0 else {
      let leaf = Leaf.own(&node)
      guard let index = Self.index(of: key, in: leaf), isIt(leaf[index].payload) else {
        return .nothing
      }
      guard evenIfSeveral || Self.isAlone(index, in: leaf, isFirst: isFirst) else {
        return .perhapsSeveral
      }
      rank? += index
      return .one(leaf.remove(at: index).payload)
    }
    let inner = Inner.own(&node)
    let slot = slot(of: key, in: inner)
    if let before = rank { rank = before + entries(before: slot, of: total, in: inner) }
    let found = removeOnly(
      key, of: inner[slot].count, from: &inner[slot].child, height - 1,
      isFirst: isFirst && slot == 0, counting: &rank, where: isIt,
      evenIfSeveral: evenIfSeveral)
    if case .one = found { lost(one: slot, of: inner, height, wasFirst: inner[slot].key == key) }
    return found
  }
}
