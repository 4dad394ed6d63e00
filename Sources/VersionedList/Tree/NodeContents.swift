// SPDX-License-Identifier: Apache-2.0

/// How full a node is.
struct NodeSize {
  var count: Int32
  /// How many elements memory was asked for.
  let room: Int32
}

/// What is in a node of a `CountedTree`, without a reference to the node.
///
/// Counting references is atomic, and writes to every node that is only passed on the way to another:
/// in a list of 100,000 that was a tenth of the instructions of a change. So these are valid only as
/// long as somebody holds the node, a tree most often: until it is changed by somebody else, or owns
/// the node (`TreeNode.own`), which may put another one in its place.
struct NodeContents<Element> {
  private let size: UnsafeMutablePointer<NodeSize>
  private let elements: UnsafeMutablePointer<Element>

  /// What is in a `TreeNode<Element>`.
  @inline(__always)
  init(of node: Unmanaged<AnyObject>) {
    (size, elements) = node._withUnsafeGuaranteedRef { node in
      unsafeDowncast(node, to: TreeNode<Element>.self).withUnsafeMutablePointers { ($0, $1) }
    }
  }

  private(set) var count: Int {
    get { Int(size.pointee.count) }
    nonmutating set { size.pointee.count = Int32(truncatingIfNeeded: newValue) }
  }

  var isFull: Bool { count == TreeNode<Element>.capacity }
  /// Whether the node has to grow before anything is added.
  var isTight: Bool { size.pointee.count >= size.pointee.room && !isFull }
  /// Whether the node has all the room that a node can have.
  var isWhole: Bool { size.pointee.room >= TreeNode<Element>.capacity }

  /// Where an element stands in memory.
  func address(of index: Int) -> UnsafeMutablePointer<Element> {
    assert(index >= 0 && index < count)
    return elements + index
  }

  /// - Precondition: `index` is in `0..<count`; unchecked in release builds, since the tree is
  ///   the only caller, and indexes come from its own counts or have been compared with them.
  subscript(index: Int) -> Element {
    _read {
      assert(index >= 0 && index < count)
      yield elements[index]
    }
    nonmutating _modify {
      assert(index >= 0 && index < count)
      yield &elements[index]
    }
  }

  /// Where a path goes on in this node, which has a height.
  @inline(__always)
  func slot(of path: TreePath, at height: Int) -> Int {
    let slot = path.slot(at: height)
    // Going on would change memory that is not the tree's.
    precondition(slot < count, "a path is not used after the tree has changed")
    return slot
  }

  /// The index of the first element that `predicate` holds for, by bisection; `count` if none.
  @inline(__always)
  func firstIndex(where predicate: (UnsafeMutablePointer<Element>) -> Bool) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low &+ high) / 2
      if predicate(elements + middle) { high = middle } else { low = middle &+ 1 }
    }
    return low
  }
}

// MARK: - Changing

extension NodeContents {
  func insert(_ element: Element, at index: Int) {
    assert(index >= 0 && index <= count && !isFull && !isTight)
    let tail = count - index
    if tail > 0 { (elements + index + 1).moveInitialize(from: elements + index, count: tail) }
    (elements + index).initialize(to: element)
    count += 1
  }

  /// Inserts, and where the node was full answers the new right half.
  ///
  /// - Parameter isLast: Whether nothing stands behind this node in the whole tree.
  func insertSplitting(_ element: Element, at index: Int, isLast: Bool) -> TreeNode<Element>? {
    guard isFull else {
      insert(element, at: index)
      return nil
    }
    let right = TreeNode<Element>.make()
    // Appending leaves full nodes behind. Anywhere else halves leave room on both sides: what is
    // inserted again and again at one boundary would otherwise get a node for each.
    let middle = isLast && index == count ? count : count / 2
    if middle < count { moveTail(from: middle, to: right.contents) }
    if index <= middle && middle < TreeNode<Element>.capacity {
      insert(element, at: index)
    } else {
      right.contents.insert(element, at: index - middle)
    }
    return right
  }

  func remove(at index: Int) -> Element {
    assert(index >= 0 && index < count)
    let removed = (elements + index).move()
    let tail = count - index - 1
    if tail > 0 { (elements + index).moveInitialize(from: elements + index + 1, count: tail) }
    count -= 1
    return removed
  }

  /// Takes all of the right neighbour if there is room, else evens the two out.
  ///
  /// - Precondition: both are whole.
  /// - Returns: Whether `right` is empty now.
  func join(_ right: NodeContents) -> Bool {
    assert(isWhole && right.isWhole)
    let total = count + right.count
    guard total > TreeNode<Element>.capacity else {
      append(moving: right, right.count)
      return true
    }
    let half = total / 2
    if count < half {
      append(moving: right, half - count)
    } else {
      let surplus = count - half
      (right.elements + surplus).moveInitialize(from: right.elements, count: right.count)
      right.elements.moveInitialize(from: elements + half, count: surplus)
      right.count += surplus
      count = half
    }
    return false
  }

  /// Puts copies of all elements of another node behind one's own.
  func append(copying other: NodeContents) {
    // One by one: `initialize(from:count:)` asks the runtime how each is copied.
    for index in 0..<other.count {
      (elements + count + index).initialize(to: other.elements[index])
    }
    count += other.count
  }

  /// Lets go of all elements.
  func removeAll() {
    elements.deinitialize(count: count)
    count = 0
  }

  private func append(moving right: NodeContents, _ moved: Int) {
    (elements + count).moveInitialize(from: right.elements, count: moved)
    let rest = right.count - moved
    right.elements.moveInitialize(from: right.elements + moved, count: rest)
    count += moved
    right.count = rest
  }

  private func moveTail(from middle: Int, to right: NodeContents) {
    right.elements.moveInitialize(from: elements + middle, count: count - middle)
    right.count = count - middle
    count = middle
  }
}
