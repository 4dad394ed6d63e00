// SPDX-License-Identifier: Apache-2.0

/// The members of an object, in order.
///
/// Keys compare by their UTF-8 bytes: "é" composed and decomposed are two keys. A key that is set
/// again keeps its place; so do duplicates in a text, of which the last value counts.
///
/// Looking up, setting and removing take constant time however many members there are, also when
/// somebody chooses the keys with care: beyond a few, they are found by a seeded hash.
public struct JSONObject: Sendable {
  struct Member: Sendable {
    var key: String
    /// Nil once the member has been removed; its place is given up later, with others.
    var value: JSONValue?
  }

  private(set) var members: [Member] = []
  private var index = KeyIndex()

  /// How many members there are.
  public private(set) var count = 0

  /// Whether there is none.
  public var isEmpty: Bool { count == 0 }

  /// No members.
  public init() {}

  /// Members in order; of those with one key the last value counts.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  /// The value of a key; setting nil removes the member.
  public subscript(key: String) -> JSONValue? {
    get {
      position(of: key).flatMap { members[$0].value }
    }
    set {
      if let newValue {
        set(key, to: newValue)
      } else {
        removeValue(forKey: key)
      }
    }
  }

  /// Changes the value of a key in place; false if there is no such key or if `body` says so.
  mutating func change(_ key: String, _ body: (inout JSONValue) -> Bool) -> Bool {
    guard let position = position(of: key), var value = members[position].value else {
      return false
    }
    // Taken out meanwhile, so that it is not shared and need not be copied.
    members[position].value = .null
    defer { members[position].value = value }
    return body(&value)
  }

  private mutating func set(_ key: String, to value: JSONValue) {
    if let position = position(of: key) {
      members[position].value = value
      return
    }
    members.append(Member(key: key, value: value))
    count += 1
    extendIndex()
  }

  /// Removes a member.
  /// - Returns: Its value, or nil if there was none.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> JSONValue? {
    guard let position = position(of: key) else { return nil }
    let value = members[position].value
    members[position].value = nil
    forgetOne()
    return value
  }

  /// Counts a member as removed, and gives up the places of all such once they are the most.
  private mutating func forgetOne() {
    count -= 1
    let removed = members.count - count
    guard removed > count && removed > 8 else { return }
    members.removeAll { $0.value == nil }
    index = KeyIndex()
    extendIndex()
  }

  private mutating func extendIndex() {
    index.extend(to: members.count) {
      members[$0].key.byteHash
    } haveSameKey: {
      members[$0].key.hasSameBytes(as: members[$1].key)
    }
  }

  private func position(of key: String) -> Int? {
    key.withUTF8Bytes { bytes in
      func isLive(_ position: Int) -> Bool {
        let member = members[position]
        return member.key.utf8.count == bytes.count && member.value != nil
          && member.key.withUTF8Bytes { $0.hasSameBytes(as: bytes) }
      }
      if index.isEmpty { return members.indices.first(where: isLive) }
      return index.position(hash: bytes.seededHash, where: isLive)
    }
  }
}

// MARK: - Members

extension JSONObject: Sequence {
  /// The members in order.
  public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

  public struct Iterator: IteratorProtocol {
    var members: IndexingIterator<[Member]>

    public mutating func next() -> (key: String, value: JSONValue)? {
      while let member = members.next() {
        if let value = member.value { return (member.key, value) }
      }
      return nil
    }
  }

  public var underestimatedCount: Int { count }

  /// The keys in order.
  public var keys: [String] { map(\.key) }
}

extension JSONObject: Equatable {
  /// Whether both have the same members, in whatever order.
  public static func == (one: JSONObject, other: JSONObject) -> Bool {
    one.count == other.count && one.allSatisfy { other[$0.key] == $0.value }
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}
