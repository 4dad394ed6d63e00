// SPDX-License-Identifier: Apache-2.0

// Where a key stands in a node. Looked for first where it would be if the keys were spread evenly, as
// numbers of ids are and labels most often: bisection guesses six times in a full node, and in a long list,
// whose leaves are in no cache, fetches another line of memory at most of them.
extension CountedTree {
  /// What an inner node knows of a child, so that a key is looked for there without its ends.
  struct Span {
    /// How many entries there are, and the first one's key; nil where only the node itself knows.
    var known: (count: Int, first: UInt64)?
    /// No key is above it; nil where that is not known.
    var end: UInt64?

    static var unknown: Span { Span() }
  }

  /// The span of a child.
  /// - Parameter span: That of the inner node itself.
  static func span(of slot: Int, in inner: NodeContents<Branch>, of span: Span) -> Span {
    let branch = inner.address(of: slot)
    let end = slot + 1 < inner.count ? inner.address(of: slot + 1).pointee.key : span.end
    return Span(known: (branch.pointee.count, branch.pointee.key), end: end)
  }

  /// The last child that does not begin above a key; the first one if all do.
  /// - Parameter span: That of the inner node.
  static func slot(of key: UInt64, in inner: NodeContents<Branch>, _ span: Span) -> Int {
    let count = inner.count
    if count == 1 { return 0 }
    // Where the node above says where this one ends, its last child is not looked at.
    let (end, others) = span.end.map { ($0, count) } ?? (inner[count - 1].key, count - 1)
    guard key < end else { return count - 1 }
    let first = inner.address(of: 0).pointee.key
    let index =
      guessed(above: key, of: others, from: first, to: end) { inner.address(of: $0).pointee.key }
      ?? inner.firstIndex { $0.pointee.key > key }
    return max(0, index - 1)
  }

  /// The index of the first entry of a leaf that stands above a key.
  static func index(above key: UInt64, in leaf: NodeContents<Entry>, _ span: Span) -> Int {
    if let (count, first) = span.known, let end = span.end, key < end,
      let index = guessed(
        above: key, of: count, from: first, to: end, { leaf.address(of: $0).pointee.key })
    {
      return index
    }
    return leaf.firstIndex { $0.pointee.key > key }
  }

  /// The first index whose key is above one, near where it would be if all were spread evenly.
  ///
  /// - Parameters:
  ///   - count: How many keys there are.
  ///   - first: The smallest one.
  ///   - end: One that is above `key`, and that none of these is above.
  /// - Returns: Nil if it is not near, `key` is below all, or they are few.
  @inline(__always)
  private static func guessed(
    above key: UInt64, of count: Int, from first: UInt64, to end: UInt64, _ keyAt: (Int) -> UInt64
  ) -> Int? {
    guard key >= first, count > stepsByEye else { return nil }
    // Halved, so that they are signed numbers, which are converted at once; one more, so that nothing is
    // divided by zero.
    let way = Double(Int64(bitPattern: (key - first) >> 1))
    let whole = Double(Int64(bitPattern: (end - first) >> 1)) + 1
    // Behind the one that it would be.
    var index = min(Int(way / whole * Double(count)) + 1, count)
    let last = index + stepsByEye
    let least = index - stepsByEye
    if keyAt(index - 1) > key {
      repeat { index -= 1 } while index > max(least, 0) && keyAt(index - 1) > key
      return index > least ? index : nil
    }
    while index < min(last, count), keyAt(index) <= key { index += 1 }
    return index < last ? index : nil
  }

  // Two lines of a cache to either side in a leaf, three in an inner node.
  private static var stepsByEye: Int { 8 }
}
