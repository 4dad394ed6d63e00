// SPDX-License-Identifier: Apache-2.0

// Where a key stands in a node. Looked for first where it would be if the keys were spread evenly, as
// hashes are and labels most often: bisection guesses six times in a full node, and in a long list, whose
// leaves are in no cache, fetches another line of memory at most of them.
extension CountedTree {
  /// What an inner node knows of a child, so that a key is looked for in a leaf without its ends.
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
  static func slot(of key: UInt64, in inner: NodeContents<Branch>) -> Int {
    let last = inner.count - 1
    let end = inner.address(of: last).pointee.key
    guard key < end else { return last }
    let first = inner.address(of: 0).pointee.key
    let index =
      guessed(above: key, of: last, from: first, to: end) { inner.address(of: $0).pointee.key }
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
    var index = Int(way / whole * Double(count))
    for _ in 0..<stepsByEye {
      if index > 0, keyAt(index - 1) > key {
        index -= 1
      } else if index < count, keyAt(index) <= key {
        index += 1
      } else {
        return index
      }
    }
    return nil
  }

  // Two lines of a cache to either side in a leaf, three in an inner node.
  private static var stepsByEye: Int { 8 }
}
