// SPDX-License-Identifier: Apache-2.0

/// The members of an object and the offsets of their values in the text.
final class DecodedObject {
  struct Member {
    let key: JSONKey
    /// The offset at which the value starts.
    let offset: Int
  }

  /// The offset at which the object starts.
  let offset: Int
  let members: [Member]
  private let index: KeyIndex

  init(_ text: DecodedText, at offset: Int) throws(JSONError) {
    var members: [Member] = []
    members.reserveCapacity(8)
    let end = try text.locating { () throws(JSONError) in
      var reader = text.reader(at: offset)
      try reader.beginObject()
      while let key = try reader.nextKey() {
        // Types compare and hash the keys that they ask for.
        guard key.isStreamSafe else {
          throw reader.error(.value, "a key has more than 30 marks in a row")
        }
        members.append(Member(key: key, offset: try reader.skipValue().lowerBound))
      }
      return reader.position
    }
    if text.rootEnd == nil { text.rootEnd = end }
    var index = KeyIndex()
    index.extend(to: members.count) {
      members[$0].key.withBytes(\.seededHash)
    } haveSameKey: {
      members[$0].key.isSame(as: members[$1].key)
    }
    self.offset = offset
    self.members = members
    self.index = index
  }

  /// Returns the member with a key, or the last one if several members have that key.
  func member(_ key: String) -> Member? {
    key.withUTF8Bytes { bytes in
      func isSought(_ member: Member) -> Bool {
        member.key.isEscaped
          ? member.key.withBytes { $0.hasSameBytes(as: bytes) }
          : member.key.rawBytes.hasSameBytes(as: bytes)
      }
      if index.isEmpty { return members.last(where: isSought) }
      return index.position(hash: bytes.seededHash) { isSought(members[$0]) }.map { members[$0] }
    }
  }
}
