// SPDX-License-Identifier: Apache-2.0

// Which child of an inner node a way down goes to. Children are counted from the end that is nearer:
// nearly all of what is added comes last.
extension CountedTree {
  /// The child that holds a rank; `rank` becomes the rank inside that child.
  /// - Parameter total: How many entries all children hold.
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
    var behind = total &- rank
    while true {
      let count = inner.address(of: slot).pointee.count
      guard behind > count else {
        rank = count &- behind
        return slot
      }
      behind &-= count
      slot &-= 1
    }
  }

  /// The child that an entry is put into to have a rank; `rank` becomes the rank inside that child.
  ///
  /// At a boundary it goes to the end of the child before it: appending fills leaves.
  /// - Parameter total: How many entries all children hold.
  static func slot(
    ofNew rank: inout Int, of total: Int, in inner: NodeContents<Branch>
  ) -> Int {
    guard rank > 0 else { return 0 }
    rank -= 1
    let slot = slot(of: &rank, of: total, in: inner)
    rank += 1
    return slot
  }

  /// How many entries the children before one hold.
  /// - Parameter total: How many entries all children hold.
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

  /// A child, without a reference of one's own.
  static func child(
    of inner: NodeContents<Branch>, at slot: Int
  ) -> Unmanaged<AnyObject> {
    assert(MemoryLayout<Branch>.offset(of: \.child) == 0)
    return UnsafeRawPointer(inner.address(of: slot)).load(as: Unmanaged<AnyObject>.self)
  }
}
