// SPDX-License-Identifier: Apache-2.0

/// A node of a `CountedTree`: up to `capacity` elements in one allocation.
///
/// A node with few elements has a smaller allocation, which grows when an element is added, so that
/// each of thousands of short lists uses little memory.
final class TreeNode<Element>: ManagedBuffer<NodeSize, Element> {
  // 64 keeps a tree of 100,000 entries three levels high, and a copy of a shared node small.
  static var capacity: Int { 64 }
  static var minimum: Int { 20 }

  /// Creates a node without elements.
  ///
  /// - Parameter room: The number of elements that can be added before the node has to grow.
  static func make(room: Int = TreeNode.capacity) -> TreeNode {
    let node = create(minimumCapacity: room) { _ in NodeSize(count: 0, room: Int32(room)) }
    return unsafeDowncast(node, to: TreeNode.self)
  }

  deinit { contents.removeAll() }

  /// The contents of the node; valid as long as another object retains the node.
  var contents: NodeContents<Element> { NodeContents(of: .passUnretained(self)) }

  var count: Int { contents.count }
  subscript(index: Int) -> Element { contents[index] }

  /// Returns the contents of the node at a reference for changing them. A shared node is copied
  /// first. The node has space for one more element unless it is full.
  @inline(__always)
  static func own(_ node: inout AnyObject) -> NodeContents<Element> {
    let isShared = !isUnique(&node, as: AnyObject.self)
    let contents = NodeContents<Element>(of: .passUnretained(node))
    return isShared || contents.mustGrow
      ? replace(&node, room: room(for: contents.count + 1)) : contents
  }

  /// Returns the contents of the node at a reference for changing them, as `own` does. The node has
  /// the largest possible allocation.
  static func ownWhole(_ node: inout AnyObject) -> NodeContents<Element> {
    let contents = own(&node)
    return contents.isWhole ? contents : replace(&node, room: capacity)
  }

  /// Returns a copy with the smallest sufficient allocation.
  func fitted() -> TreeNode { copy(room: Self.room(for: count)) }

  // Allocations grow in steps of four elements up to half the capacity, then in steps of eight.
  private static func room(for count: Int) -> Int {
    count <= capacity / 2 ? max(4, (count + 3) & ~3) : min(capacity, (count + 7) & ~7)
  }

  /// Returns true if there is no other reference to the object.
  ///
  /// For an argument of type `AnyObject`, `isKnownUniquelyReferenced` opens the existential into a
  /// second reference (in Swift 6, SE-0352) and returns false unless the optimizer removes it.
  /// Naming the type prevents that.
  private static func isUnique<Object: AnyObject>(
    _ object: inout Object, as type: Object.Type
  ) -> Bool {
    isKnownUniquelyReferenced(&object)
  }

  @inline(never)
  private static func replace(_ node: inout AnyObject, room: Int) -> NodeContents<Element> {
    node = unsafeDowncast(node, to: TreeNode.self).copy(room: room)
    return NodeContents(of: .passUnretained(node))
  }

  private func copy(room: Int) -> TreeNode {
    let copy = Self.make(room: room)
    // Keeps the node alive while its contents are copied: there may be no other reference.
    withExtendedLifetime(self) { copy.contents.append(copying: contents) }
    return copy
  }
}
