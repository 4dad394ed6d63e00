// SPDX-License-Identifier: Apache-2.0

/// A node of a `CountedTree`: up to `capacity` elements in one allocation.
///
/// Where there are few elements the allocation is smaller, and grows when one is added: thousands of
/// short lists are to cost little each.
final class TreeNode<Element>: ManagedBuffer<Int, Element> {
  // 32 keeps a tree of 100,000 entries four levels high, and a copy of a shared node small.
  static var capacity: Int { 32 }
  static var minimum: Int { 10 }

  /// A node without elements.
  /// - Parameter room: How many may be added before it has to grow.
  static func make(room: Int = TreeNode.capacity) -> TreeNode {
    unsafeDowncast(create(minimumCapacity: room) { _ in 0 }, to: TreeNode.self)
  }

  deinit {
    _ = withUnsafeMutablePointers { count, elements in
      elements.deinitialize(count: count.pointee)
    }
  }

  var count: Int { header }
  var isFull: Bool { header == Self.capacity }
  /// Whether it has to grow before anything is added.
  private var isTight: Bool { header >= capacity && !isFull }

  /// - Precondition: `index` is in `0..<count`; unchecked in release builds, since the tree is
  ///   the only caller and indexes come from its own counts.
  subscript(index: Int) -> Element {
    get {
      assert(index >= 0 && index < count)
      return withUnsafeMutablePointerToElements { $0[index] }
    }
    _modify {
      assert(index >= 0 && index < count)
      yield &withUnsafeMutablePointerToElements { $0 }[index]
    }
  }

  /// The index of the first element that `predicate` holds for, by bisection; `count` if none.
  func firstIndex(where predicate: (Element) -> Bool) -> Int {
    withUnsafeMutablePointers { count, elements in
      var low = 0
      var high = count.pointee
      while low < high {
        let middle = (low + high) / 2
        if predicate(elements[middle]) { high = middle } else { low = middle + 1 }
      }
      return low
    }
  }

  /// The node behind a reference, copied first if anybody else holds it; it has room for one more
  /// element unless it is full.
  static func own(_ node: inout AnyObject) -> TreeNode {
    let isShared = !isUnique(&node, as: AnyObject.self)
    let own = unsafeDowncast(node, to: TreeNode.self)
    guard isShared || own.isTight else { return own }
    let copy = own.copy(room: room(for: own.count + 1))
    node = copy
    return copy
  }

  /// The node behind a reference, as `own`, with all the room that a node can have.
  static func ownWhole(_ node: inout AnyObject) -> TreeNode {
    let own = own(&node)
    guard own.capacity < capacity else { return own }
    let copy = own.copy(room: capacity)
    node = copy
    return copy
  }

  /// A copy that takes no more room than it needs.
  func fitted() -> TreeNode { copy(room: Self.room(for: count)) }

  private static func room(for count: Int) -> Int {
    var room = 4
    while room < count { room *= 2 }
    return min(room, capacity)
  }

  /// Whether nobody else holds a reference.
  ///
  /// Given `AnyObject` as it is, `isKnownUniquelyReferenced` opens it into a second reference (in
  /// Swift 6, SE-0352) and says no wherever the optimiser does not remove that; naming the type
  /// keeps it closed.
  private static func isUnique<Object: AnyObject>(
    _ object: inout Object, as type: Object.Type
  ) -> Bool {
    isKnownUniquelyReferenced(&object)
  }

  private func copy(room: Int) -> TreeNode {
    let copy = Self.make(room: room)
    copy.append(from: self, 0..<count)
    return copy
  }

  func insert(_ element: Element, at index: Int) {
    assert(index >= 0 && index <= count && !isFull)
    withUnsafeMutablePointers { count, elements in
      let tail = count.pointee - index
      if tail > 0 { (elements + index + 1).moveInitialize(from: elements + index, count: tail) }
      (elements + index).initialize(to: element)
      count.pointee += 1
    }
  }

  /// Inserts, and where the node was full answers the new right half.
  ///
  /// - Parameter isLast: Whether nothing stands behind this node in the whole tree.
  func insertSplitting(_ element: Element, at index: Int, isLast: Bool) -> TreeNode? {
    guard isFull else {
      insert(element, at: index)
      return nil
    }
    let right = Self.make()
    // Appending leaves full nodes behind. Anywhere else halves leave room on both sides: what is
    // inserted again and again at one boundary would otherwise get a node for each.
    let middle = isLast && index == count ? count : count / 2
    if middle < count { moveTail(from: middle, to: right) }
    if index <= middle && middle < Self.capacity {
      insert(element, at: index)
    } else {
      right.insert(element, at: index - middle)
    }
    return right
  }

  func remove(at index: Int) -> Element {
    assert(index >= 0 && index < count)
    return withUnsafeMutablePointers { count, elements in
      let removed = (elements + index).move()
      let tail = count.pointee - index - 1
      if tail > 0 { (elements + index).moveInitialize(from: elements + index + 1, count: tail) }
      count.pointee -= 1
      return removed
    }
  }

  /// Takes all of the right neighbour if there is room, else evens the two out.
  /// - Returns: Whether `right` is empty now.
  func join(_ right: TreeNode) -> Bool {
    let total = count + right.count
    guard total > Self.capacity else {
      append(moving: right, right.count)
      return true
    }
    let half = total / 2
    if count < half {
      append(moving: right, half - count)
    } else {
      let surplus = count - half
      withUnsafeMutablePointers { count, elements in
        right.withUnsafeMutablePointers { rightCount, rightElements in
          (rightElements + surplus).moveInitialize(from: rightElements, count: rightCount.pointee)
          rightElements.moveInitialize(from: elements + half, count: surplus)
          rightCount.pointee += surplus
          count.pointee = half
        }
      }
    }
    return false
  }

  private func append(moving right: TreeNode, _ moved: Int) {
    withUnsafeMutablePointers { count, elements in
      right.withUnsafeMutablePointers { rightCount, rightElements in
        (elements + count.pointee).moveInitialize(from: rightElements, count: moved)
        let rest = rightCount.pointee - moved
        rightElements.moveInitialize(from: rightElements + moved, count: rest)
        count.pointee += moved
        rightCount.pointee = rest
      }
    }
  }

  private func append(from other: TreeNode, _ range: Range<Int>) {
    withUnsafeMutablePointers { count, elements in
      other.withUnsafeMutablePointerToElements { source in
        (elements + count.pointee).initialize(from: source + range.lowerBound, count: range.count)
      }
      count.pointee += range.count
    }
  }

  private func moveTail(from middle: Int, to right: TreeNode) {
    withUnsafeMutablePointers { count, elements in
      right.withUnsafeMutablePointers { rightCount, rightElements in
        rightElements.moveInitialize(from: elements + middle, count: count.pointee - middle)
        rightCount.pointee = count.pointee - middle
        count.pointee = middle
      }
    }
  }
}
