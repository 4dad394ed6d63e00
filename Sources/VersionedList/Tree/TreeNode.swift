// SPDX-License-Identifier: Apache-2.0

/// A node of a `CountedTree`: up to `capacity` elements in one allocation.
///
/// Where there are few elements the allocation is smaller, and grows when one is added: thousands of
/// short lists are to cost little each.
final class TreeNode<Element>: ManagedBuffer<NodeSize, Element> {
  // 64 keeps a tree of 100,000 entries three levels high, and a copy of a shared node small.
  static var capacity: Int { 64 }
  static var minimum: Int { 20 }

  /// A node without elements.
  /// - Parameter room: How many may be added before it has to grow.
  static func make(room: Int = TreeNode.capacity) -> TreeNode {
    let node = create(minimumCapacity: room) { _ in NodeSize(count: 0, room: Int32(room)) }
    return unsafeDowncast(node, to: TreeNode.self)
  }

  deinit { contents.removeAll() }

  /// What is in it; valid as long as somebody holds it.
  var contents: NodeContents<Element> { NodeContents(of: .passUnretained(self)) }

  var count: Int { contents.count }
  subscript(index: Int) -> Element { contents[index] }

  /// What is in the node behind a reference, copied first if anybody else holds it; it has room for one
  /// more element unless it is full.
  @inline(__always)
  static func own(_ node: inout AnyObject) -> NodeContents<Element> {
    let isShared = !isUnique(&node, as: AnyObject.self)
    let contents = NodeContents<Element>(of: .passUnretained(node))
    return isShared || contents.isTight
      ? replace(&node, room: room(for: contents.count + 1)) : contents
  }

  /// What is in the node behind a reference, as `own`, with all the room that a node can have.
  static func ownWhole(_ node: inout AnyObject) -> NodeContents<Element> {
    let contents = own(&node)
    return contents.isWhole ? contents : replace(&node, room: capacity)
  }

  /// A copy that takes no more room than it needs.
  func fitted() -> TreeNode { copy(room: Self.room(for: count)) }

  // In steps of four while there are few, of eight then.
  private static func room(for count: Int) -> Int {
    count <= capacity / 2 ? max(4, (count + 3) & ~3) : min(capacity, (count + 7) & ~7)
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

  @inline(never)
  private static func replace(_ node: inout AnyObject, room: Int) -> NodeContents<Element> {
    node = unsafeDowncast(node, to: TreeNode.self).copy(room: room)
    return NodeContents(of: .passUnretained(node))
  }

  private func copy(room: Int) -> TreeNode {
    let copy = Self.make(room: room)
    // Perhaps nobody else holds this one.
    withExtendedLifetime(self) { copy.contents.append(copying: contents) }
    return copy
  }
}
