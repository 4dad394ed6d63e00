// SPDX-License-Identifier: Apache-2.0

// The search for a key in a node. It first checks the position that the key would have if keys were
// distributed evenly, as numbers of ids are, and labels usually. Bisection needs six steps in a
// full node, and in a long list, whose leaves are in no cache, most of these steps load another
// cache line.
extension CountedTree {
  /// The information of an inner node about a child, with which a key is searched in the child
  /// without reading the child's ends.
  struct Span {
    /// The number of entries and the first key; nil if only the node itself has them.
    var known: (count: Int, first: UInt64)?
    /// An upper bound of the keys; nil if unknown.
    var end: UInt64?

    static var unknown: Span { Span() }
  }

  /// Returns the span of a child.
  ///
  /// - Parameter span: The span of the inner node itself.
  static func span(of slot: Int, in inner: NodeContents<Branch>, of span: Span) -> Span {
    let branch = inner.address(of: slot)
    let end = slot + 1 < inner.count ? inner.address(of: slot + 1).pointee.key : span.end
    return Span(known: (branch.pointee.count, branch.pointee.key), end: end)
  }

  /// Returns the last child whose first key is not above a key; the first child if there is none.
  ///
  /// - Parameter span: The span of the inner node.
  static func slot(of key: UInt64, in inner: NodeContents<Branch>, _ span: Span) -> Int {
    let count = inner.count
    if count == 1 { return 0 }
    // If the parent node provides the upper bound, the last child is not read.
    let (end, others) = span.end.map { ($0, count) } ?? (inner[count - 1].key, count - 1)
    guard key < end else { return count - 1 }
    let first = inner.address(of: 0).pointee.key
    let index =
      guessed(above: key, of: others, from: first, to: end) { inner.address(of: $0).pointee.key }
      ?? inner.firstIndex { $0.pointee.key > key }
    return max(0, index - 1)
  }

  /// Returns the index of the first entry of a leaf whose key is above a key.
  static func index(above key: UInt64, in leaf: NodeContents<Entry>, _ span: Span) -> Int {
    if let (count, first) = span.known, let end = span.end, key < end,
      let index = guessed(
        above: key, of: count, from: first, to: end, { leaf.address(of: $0).pointee.key })
    {
      return index
    }
    return leaf.firstIndex { $0.pointee.key > key }
  }

  /// Returns the first index whose key is above a key, if it is near the estimated position.
  ///
  /// - Parameters:
  ///   - count: The number of keys.
  ///   - first: The smallest key.
  ///   - end: A number that is above `key` and not below any of these keys.
  /// - Returns: Nil if the index is not near, `key` is below all keys, or there are only a few
  ///   keys.
  @inline(__always)
  private static func guessed(
    above key: UInt64, of count: Int, from first: UInt64, to end: UInt64, _ keyAt: (Int) -> UInt64
  ) -> Int? {
    guard key >= first, count > maximumSteps else { return nil }
    // The values are halved to fit signed numbers, which are converted in one instruction; 1 is
    // added to avoid a division by zero.
    let way = Double(Int64(bitPattern: (key - first) >> 1))
    let whole = Double(Int64(bitPattern: (end - first) >> 1)) + 1
    // The index after the estimated one.
    var index = min(Int(way / whole * Double(count)) + 1, count)
    let last = index + maximumSteps
    let least = index - maximumSteps
    if keyAt(index - 1) > key {
      repeat { index -= 1 } while index > max(least, 0) && keyAt(index - 1) > key
      return index > least ? index : nil
    }
    while index < min(last, count), keyAt(index) <= key { index += 1 }
    return index < last ? index : nil
  }

  // The most steps from the estimate: two cache lines on either side in a leaf, three in an inner
  // node.
  private static var maximumSteps: Int { 8 }
}
