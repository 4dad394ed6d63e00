// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A sequence as a tree of short arrays. Copies share the nodes that are equal: a change of a copy copies
/// one node on each level.
struct ElementTree<Element: Sendable>: Sendable {
  private var root = ElementNode<Element>.elements([])

  /// Creates a sequence of elements.
  init(_ elements: some Sequence<Element>) {
    var nodes = Array(elements).parts.map { ElementNode.elements($0) }
    while nodes.count > 1 { nodes = nodes.parts.map { ElementNode($0) } }
    root = nodes.first ?? root
  }

  var count: Int { root.count }

  subscript(position: Int) -> Element { root[position] }

  /// The number of levels above the elements.
  var height: Int { root.height }

  /// The arrays of elements, in order; none is empty, except that of an empty sequence.
  var leaves: [[Element]] { root.leaves }

  /// Calls `body` with an element in place.
  mutating func update<Result>(at position: Int, _ body: (inout Element) -> Result) -> Result {
    root.update(at: position, body)
  }

  mutating func insert(_ element: Element, at position: Int) {
    if let next = root.insert(element, at: position) { root = ElementNode([root, next]) }
  }

  mutating func remove(at position: Int) -> Element {
    let removed = root.remove(at: position)
    while case .nodes(let nodes, _) = root, nodes.count <= 1 { root = nodes.first ?? .elements([]) }
    return removed
  }

  /// Returns true if both have the same elements. Nodes that both share are not compared.
  func isSame(as other: ElementTree, by areSame: (Element, Element) -> Bool) -> Bool {
    count == other.count && root.isSame(as: other.root, by: areSame)
  }
}

extension ElementTree: Sequence {
  func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { leaves.joined().makeIterator() }
}

/// A node of an `ElementTree`. All nodes of one level have the same distance from the elements.
private enum ElementNode<Element: Sendable>: Sendable {
  case elements([Element])
  case nodes([ElementNode], count: Int)

  init(_ nodes: [ElementNode]) {
    self = .nodes(nodes, count: nodes.reduce(0) { $0 + $1.count })
  }

  /// The number of elements.
  var count: Int {
    switch self {
    case .elements(let elements): elements.count
    case .nodes(_, let count): count
    }
  }

  /// The number of values that a change copies.
  private var width: Int {
    switch self {
    case .elements(let elements): elements.count
    case .nodes(let nodes, _): nodes.count
    }
  }

  var height: Int {
    switch self {
    case .elements: 1
    case .nodes(let nodes, _): 1 + (nodes.first?.height ?? 0)
    }
  }

  subscript(position: Int) -> Element {
    switch self {
    case .elements(let elements): return elements[position]
    case .nodes(let nodes, let count):
      let (index, position) = Self.place(of: position, in: nodes, count)
      return nodes[index][position]
    }
  }

  var leaves: [[Element]] {
    switch self {
    case .elements(let elements): [elements]
    case .nodes(let nodes, _): nodes.flatMap(\.leaves)
    }
  }

  /// Returns the index of the node with a position, and the position in it. The end is in the last node.
  private static func place(
    of position: Int, in nodes: [ElementNode], _ count: Int
  ) -> (index: Int, position: Int) {
    if position > count / 2 {
      // Most changes are at the end.
      var (index, start) = (nodes.count - 1, count - nodes[nodes.count - 1].count)
      while start > position {
        index -= 1
        start -= nodes[index].count
      }
      return (index, position - start)
    }
    var (index, start) = (0, 0)
    while index < nodes.count - 1, position - start >= nodes[index].count {
      start += nodes[index].count
      index += 1
    }
    return (index, position - start)
  }

  mutating func update<Result>(at position: Int, _ body: (inout Element) -> Result) -> Result {
    // The array is moved out of the node and back, because a second reference would copy it.
    switch consume self {
    case .elements(var elements):
      defer { self = .elements(elements) }
      return body(&elements[position])
    case .nodes(var nodes, let count):
      defer { self = .nodes(nodes, count: count) }
      let (index, position) = Self.place(of: position, in: nodes, count)
      return nodes[index].update(at: position, body)
    }
  }

  /// Inserts an element.
  ///
  /// - Returns: The node that follows this one from now on; nil if this one is not too wide.
  mutating func insert(_ element: Element, at position: Int) -> ElementNode? {
    switch consume self {
    case .elements(var elements):
      elements.insert(element, at: position)
      let next = elements.splitIfLong(isAtEnd: position == elements.count - 1)
      self = .elements(elements)
      return next.map { .elements($0) }
    case .nodes(var nodes, let count):
      let (index, inner) = Self.place(of: position, in: nodes, count)
      var next: [ElementNode]?
      if let node = nodes[index].insert(element, at: inner) {
        nodes.insert(node, at: index + 1)
        next = nodes.splitIfLong(isAtEnd: position == count)
      }
      self = next == nil ? .nodes(nodes, count: count + 1) : ElementNode(nodes)
      return next.map { ElementNode($0) }
    }
  }

  mutating func remove(at position: Int) -> Element {
    switch consume self {
    case .elements(var elements):
      defer { self = .elements(elements) }
      return elements.remove(at: position)
    case .nodes(var nodes, let count):
      defer { self = .nodes(nodes, count: count - 1) }
      let (index, position) = Self.place(of: position, in: nodes, count)
      let removed = nodes[index].remove(at: position)
      // Narrow neighbours are joined, so that there are never many narrow nodes.
      if !Self.join(index, in: &nodes), !Self.join(index - 1, in: &nodes), nodes[index].width == 0 {
        nodes.remove(at: index)
      }
      return removed
    }
  }

  /// Joins a node with the next one if both exist and are narrow together.
  private static func join(_ index: Int, in nodes: inout [ElementNode]) -> Bool {
    guard index >= 0, index + 1 < nodes.count,
      nodes[index].width + nodes[index + 1].width <= [Element].maximum / 2
    else { return false }
    switch (nodes[index], nodes[index + 1]) {
    case (.elements(let elements), .elements(let more)): nodes[index] = .elements(elements + more)
    case (.nodes(let inner, _), .nodes(let more, _)): nodes[index] = ElementNode(inner + more)
    // Nodes of one level are of one kind.
    default: return false
    }
    nodes.remove(at: index + 1)
    return true
  }

  func isSame(as other: ElementNode, by areSame: (Element, Element) -> Bool) -> Bool {
    switch (self, other) {
    case (.elements(let own), .elements(let others)):
      own.sharesMemory(with: others) || own.elementsEqual(others, by: areSame)
    // Most changes leave the limits of the nodes as they are.
    case (.nodes(let own, _), .nodes(let others, _))
    where own.elementsEqual(others, by: { $0.count == $1.count }):
      own.sharesMemory(with: others)
        || own.elementsEqual(others) { $0.isSame(as: $1, by: areSame) }
    default: Self.areSame(leaves, other.leaves, by: areSame)
    }
  }

  /// Returns true if two sequences in parts are the same. Parts that both share at one position are not compared.
  private static func areSame(
    _ own: [[Element]], _ others: [[Element]], by areSame: (Element, Element) -> Bool
  ) -> Bool {
    var (part, otherPart) = (own[...], others[...])
    var (index, otherIndex) = (0, 0)
    while let mine = part.first, let theirs = otherPart.first {
      let count = min(mine.count - index, theirs.count - otherIndex)
      if index > 0 || otherIndex > 0 || !mine.sharesMemory(with: theirs) {
        for offset in 0..<count where !areSame(mine[index + offset], theirs[otherIndex + offset]) {
          return false
        }
      }
      (index, otherIndex) = (index + count, otherIndex + count)
      if index == mine.count { (part, index) = (part.dropFirst(), 0) }
      if otherIndex == theirs.count { (otherPart, otherIndex) = (otherPart.dropFirst(), 0) }
    }
    return part.isEmpty && otherPart.isEmpty
  }
}

extension Array {
  /// The most values of a node. A wider node costs more to copy, a narrower one has more nodes above it.
  fileprivate static var maximum: Int { 12 }

  /// The array in parts of at most so many values.
  fileprivate var parts: [[Element]] {
    stride(from: 0, to: count, by: Self.maximum).map {
      Array(self[$0..<Swift.min($0 + Self.maximum, count)])
    }
  }

  /// Removes and returns the second half if the array is too long, or only the last value if it has been
  /// appended: usually others follow.
  fileprivate mutating func splitIfLong(isAtEnd: Bool) -> [Element]? {
    guard count > Self.maximum else { return nil }
    let start = isAtEnd ? count - 1 : count / 2
    let next = Array(self[start...])
    removeSubrange(start...)
    return next
  }
}
