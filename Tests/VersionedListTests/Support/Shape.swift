// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VersionedList

/// The nodes of a tree, and the violations of its invariants.
struct Shape {
  /// The identity of every node, the root first.
  private(set) var nodes: [ObjectIdentifier] = []
  private(set) var faults: [String] = []

  init<Payload>(_ tree: CountedTree<Payload>) {
    guard let root = tree.root else {
      if tree.count != 0 || tree.height != 0 { faults.append("an empty tree with a count") }
      return
    }
    if tree.height > 0, CountedTree<Payload>.inner(root).count < 2 {
      faults.append("a root with one child")
    }
    let (count, _) = visit(tree, root, height: tree.height, isRoot: true, isLast: true)
    if count != tree.count { faults.append("\(count) entries, counted \(tree.count)") }
    let keys = tree.entries.map(\.key)
    if zip(keys, keys.dropFirst()).contains(where: { $0 > $1 }) { faults.append("unsorted keys") }
  }

  /// Returns the number of nodes that another tree does not have.
  func nodesNot(in other: Shape) -> Int { Set(nodes).subtracting(other.nodes).count }

  private mutating func visit<Payload>(
    _ tree: CountedTree<Payload>, _ node: AnyObject, height: Int, isRoot: Bool, isLast: Bool
  ) -> (count: Int, firstKey: UInt64) {
    nodes.append(ObjectIdentifier(node))
    guard height > 0 else {
      let leaf = CountedTree<Payload>.leaf(node)
      fill(leaf.count, of: TreeNode<CountedTree<Payload>.Entry>.self, isRoot || isLast)
      return (leaf.count, leaf.count > 0 ? leaf[0].key : 0)
    }
    let inner = CountedTree<Payload>.inner(node)
    fill(inner.count, of: TreeNode<CountedTree<Payload>.Branch>.self, isRoot || isLast)
    var total = 0
    for slot in 0..<inner.count {
      let (count, key) = visit(
        tree, inner[slot].child, height: height - 1, isRoot: false,
        isLast: isLast && slot == inner.count - 1)
      if count != inner[slot].count { faults.append("\(count) below, \(inner[slot].count) said") }
      if key != inner[slot].key { faults.append("first key \(key), \(inner[slot].key) said") }
      total += count
    }
    return (total, inner.count > 0 ? inner[0].key : 0)
  }

  private mutating func fill<Element>(
    _ count: Int, of node: TreeNode<Element>.Type, _ mayBeSmall: Bool
  ) {
    let least = mayBeSmall ? 1 : node.minimum
    if !(least...node.capacity).contains(count) { faults.append("a node of \(count)") }
  }
}

extension KeyedList {
  /// The tree of the elements.
  var shape: Shape { Shape(order) }

  /// The violations of the invariants of the list.
  var faults: [String] {
    var faults = Shape(order).faults + Shape(index).faults
    let labels = order.entries.map(\.key)
    if zip(labels, labels.dropFirst()).contains(where: { $0 >= $1 }) {
      faults.append("labels do not rise")
    }
    if index.count != count { faults.append("\(index.count) ids for \(count) elements") }
    for (position, element) in enumerated() where self.position(of: element.id) != position {
      faults.append("\(element.id) is not found")
    }
    return faults
  }
}
