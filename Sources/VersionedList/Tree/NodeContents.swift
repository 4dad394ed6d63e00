// SPDX-License-Identifier: Apache-2.0

/// The size of a node.
struct NodeSize {
  var count: Int32
  /// The number of elements for which memory was allocated.
  let room: Int32
}

/// Access to the contents of a `CountedTree` node without retaining the node.
///
/// Reference counting is atomic and writes to every node on a path, also to nodes that are only
/// read: in a list of 100,000 elements that was a tenth of the instructions of a change. An
/// instance is valid only while another object, usually a tree, retains the node, and until another
/// owner changes the node or calls `TreeNode.own`, which may replace the node.
struct NodeContents<Element> {
  private let size: UnsafeMutablePointer<NodeSize>
  private let elements: UnsafeMutablePointer<Element>

  /// Accesses the contents of a `TreeNode<Element>`.
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
  /// True if the node has to grow before an element is added.
  var mustGrow: Bool { size.pointee.count >= size.pointee.room && !isFull }
  /// True if the node has the largest possible allocation.
  var isWhole: Bool { size.pointee.room >= TreeNode<Element>.capacity }

  /// Returns the address of an element.
  func address(of index: Int) -> UnsafeMutablePointer<Element> {
    assert(index >= 0 && index < count)
    return elements + index
  }

  /// The element at an index.
  ///
  /// - Precondition: `index` is in `0..<count`. Release builds do not check it: the tree is the
  ///   only caller, and its indices come from its own counts or have been compared with them.
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

  /// Returns the index at which a path continues in this node of a height.
  @inline(__always)
  func slot(of path: TreePath, at height: Int) -> Int {
    let slot = path.slot(at: height)
    // Without this check the caller could change memory that is not part of the tree.
    precondition(slot < count, "a path must not be used after the tree has changed")
    return slot
  }

  /// Returns the index of the first element for which `predicate` is true, by bisection; `count` if
  /// there is none.
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
    assert(index >= 0 && index <= count && !isFull && !mustGrow)
    let tail = count - index
    if tail > 0 { (elements + index + 1).moveInitialize(from: elements + index, count: tail) }
    (elements + index).initialize(to: element)
    count += 1
  }

  /// Inserts an element; returns the new right half if the node was full.
  ///
  /// - Parameter isLast: True if no entry of the tree comes after this node.
  func insertSplitting(_ element: Element, at index: Int, isLast: Bool) -> TreeNode<Element>? {
    guard isFull else {
      insert(element, at: index)
      return nil
    }
    let right = TreeNode<Element>.make()
    // Appending leaves full nodes. At other positions, halves leave space on both sides; otherwise
    // repeated insertion at one boundary would create a node for each element.
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

  /// Moves all elements of the right neighbour into this node if they fit; otherwise distributes
  /// the elements evenly.
  ///
  /// - Precondition: Both nodes have the largest possible allocation.
  /// - Returns: True if `right` is now empty.
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

  /// Appends copies of all elements of another node.
  func append(copying other: NodeContents) {
    // Elements are copied one by one, because `initialize(from:count:)` queries the run time for
    // the way to copy each element.
    for index in 0..<other.count {
      (elements + count + index).initialize(to: other.elements[index])
    }
    count += other.count
  }

  /// Releases all elements.
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
