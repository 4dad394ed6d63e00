// SPDX-License-Identifier: Apache-2.0

// Selection of a child of an inner node. Children are counted from the nearer end, because most
// elements are appended.
extension CountedTree {
  /// Returns the child that contains a rank; `rank` becomes the rank inside that child.
  ///
  /// - Parameter total: The number of entries in all children.
  static func slot(
    of rank: inout Int, of total: Int, in inner: NodeContents<Branch>
  ) -> Int {
    if rank < total / 2 {
      var slot = 0
      while true {
        let count = inner.address(of: slot).pointee.count
        guard rank >= count else { return slot }
        rank &-= count
        slot &+= 1
      }
    }
    var slot = inner.count &- 1
    var remaining = total &- rank
    while true {
      let count = inner.address(of: slot).pointee.count
      guard remaining > count else {
        rank = count &- remaining
        return slot
      }
      remaining &-= count
      slot &-= 1
    }
  }

  /// Returns the child into which an entry is inserted to get a rank; `rank` becomes the rank
  /// inside that child.
  ///
  /// At a boundary the entry goes to the end of the previous child, so that appending fills leaves.
  ///
  /// - Parameter total: The number of entries in all children.
  static func slot(
    ofNew rank: inout Int, of total: Int, in inner: NodeContents<Branch>
  ) -> Int {
    guard rank > 0 else { return 0 }
    rank -= 1
    let slot = slot(of: &rank, of: total, in: inner)
    rank += 1
    return slot
  }

  /// Returns the number of entries in the children before a child.
  ///
  /// - Parameter total: The number of entries in all children.
  static func entries(
    before slot: Int, of total: Int, in inner: NodeContents<Branch>
  ) -> Int {
    var entries = 0
    guard slot > inner.count / 2 else {
      for index in 0..<slot { entries &+= inner.address(of: index).pointee.count }
      return entries
    }
    for index in slot..<inner.count { entries &+= inner.address(of: index).pointee.count }
    return total &- entries
  }

  /// Returns a child without retaining it.
  static func child(
    of inner: NodeContents<Branch>, at slot: Int
  ) -> Unmanaged<AnyObject> {
    assert(MemoryLayout<Branch>.offset(of: \.child) == 0)
    return UnsafeRawPointer(inner.address(of: slot)).load(as: Unmanaged<AnyObject>.self)
  }
}
