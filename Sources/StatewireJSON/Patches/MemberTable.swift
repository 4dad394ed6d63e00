// SPDX-License-Identifier: Apache-2.0

/// The members of an object, found by key regardless of their order.
struct MemberTable {
  struct Member {
    let key: JSONKey
    /// The range of the value in the text.
    let range: Range<Int>
  }

  private(set) var members: [Member] = []
  private var index = KeyIndex()

  /// Reads the remaining members of an object.
  ///
  /// - Parameter skip: Skips a value and returns its range.
  init(
    _ reader: inout JSONReader,
    skip: (inout JSONReader) throws(JSONError) -> Range<Int>
  ) throws(JSONError) {
    while let key = try reader.nextKey() {
      members.append(Member(key: key, range: try skip(&reader)))
    }
    index.extend(to: members.count) {
      members[$0].key.withBytes(\.seededHash)
    } haveSameKey: {
      members[$0].key.isSame(as: members[$1].key)
    }
  }

  /// The effective members: the last one of several members with the same key.
  var effective: some Sequence<Member> {
    members.indices.lazy.filter { position(of: members[$0].key) == $0 }.map { members[$0] }
  }

  /// Returns the member with a key, or the last one if several members have that key.
  func member(_ key: JSONKey) -> Member? { position(of: key).map { members[$0] } }

  /// Returns the member with a key, or the last one if several members have that key.
  func member(_ key: String) -> Member? {
    key.withUTF8Bytes { member(JSONKey(rawBytes: $0, isEscaped: false)) }
  }

  private func position(of key: JSONKey) -> Int? {
    if index.isEmpty { return members.lastIndex { $0.key.isSame(as: key) } }
    return index.position(hash: key.withBytes(\.seededHash)) { members[$0].key.isSame(as: key) }
  }
}
