// SPDX-License-Identifier: Apache-2.0

/// Members of an object whose order is not to matter.
struct MemberTable {
  struct Member {
    let key: JSONKey
    /// Where the value stands.
    let range: Range<Int>
  }

  private(set) var members: [Member] = []
  private var index = KeyIndex()

  /// Reads what remains of an object.
  ///
  /// - Parameter skip: Reads past a value.
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

  /// The members that count: of several with one key the last.
  var effective: some Sequence<Member> {
    members.indices.lazy.filter { position(of: members[$0].key) == $0 }.map { members[$0] }
  }

  /// The member with a key; of several the last.
  func member(_ key: JSONKey) -> Member? { position(of: key).map { members[$0] } }

  /// The member with a key; of several the last.
  func member(_ key: String) -> Member? {
    key.withUTF8Bytes { member(JSONKey(rawBytes: $0, isEscaped: false)) }
  }

  private func position(of key: JSONKey) -> Int? {
    if index.isEmpty { return members.lastIndex { $0.key.isSame(as: key) } }
    return index.position(hash: key.withBytes(\.seededHash)) { members[$0].key.isSame(as: key) }
  }
}
