// SPDX-License-Identifier: Apache-2.0

/// A position in a `CountedTree` during an iteration over the entries in order.
///
/// Two cursors that iterate over two versions of a tree in parallel skip every node that both
/// versions share, regardless of its size.
struct TreeCursor<Payload> {
  private typealias Tree = CountedTree<Payload>

  /// The inner nodes above the leaf, the root first, each with the index of the current child.
  private var path: [(node: Tree.Inner, slot: Int)] = []
  private var leaf: Tree.Leaf?
  private var index = 0

  init(_ tree: CountedTree<Payload>) {
    guard let root = tree.root else { return }
    descend(from: root, tree.height)
  }

  /// The current entry; nil at the end.
  var entry: CountedTree<Payload>.Entry? { leaf.map { $0[index] } }

  /// Advances to the next entry.
  mutating func next() {
    guard let leaf else { return }
    index += 1
    if index == leaf.count { leave(height: 0) }
  }

  /// Skips all nodes that begin at the current positions and are shared by both trees.
  ///
  /// - Returns: The number of entries in these nodes; 0 if there are none.
  static func skipShared(_ one: inout TreeCursor, _ other: inout TreeCursor) -> Int {
    var total = 0
    while true {
      let count = skipNode(&one, &other)
      guard count > 0 else { return total }
      total += count
    }
  }

  /// Skips the largest shared node that begins at both current positions.
  private static func skipNode(_ one: inout TreeCursor, _ other: inout TreeCursor) -> Int {
    guard one.index == 0, other.index == 0, let leaf = one.leaf, leaf === other.leaf else {
      return 0
    }
    var count = leaf.count
    var height = 0
    while let mine = one.beginning(above: height), let theirs = other.beginning(above: height),
      mine === theirs
    {
      height += 1
      count = (0..<mine.count).reduce(0) { $0 + mine[$1].count }
    }
    one.leave(height: height)
    other.leave(height: height)
    return count
  }

  /// Returns the node one level above `height` if it begins at the current position.
  private func beginning(above height: Int) -> Tree.Inner? {
    guard height < path.count else { return nil }
    let step = path[path.count - 1 - height]
    return step.slot == 0 ? step.node : nil
  }

  /// Continues after the current node of a height.
  private mutating func leave(height: Int) {
    let levels = path.count
    path.removeLast(height)
    var height = height
    while let step = path.last {
      if step.slot + 1 < step.node.count {
        path[path.count - 1].slot += 1
        return descend(from: step.node[step.slot + 1].child, height)
      }
      path.removeLast()
      height += 1
    }
    assert(height == levels)
    leaf = nil
  }

  private mutating func descend(from node: AnyObject, _ height: Int) {
    var node = node
    for _ in 0..<height {
      let inner = Tree.inner(node)
      path.append((inner, 0))
      node = inner[0].child
    }
    leaf = Tree.leaf(node)
    index = 0
  }
}
