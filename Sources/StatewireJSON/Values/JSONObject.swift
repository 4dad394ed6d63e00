// SPDX-License-Identifier: Apache-2.0

/// The members of an object, in order.
///
/// Keys compare by their UTF-8 bytes: "é" composed and decomposed are two keys. A key that is set
/// again keeps its position. Of duplicate keys in a text, the first position and the last value
/// count.
///
/// - Complexity: Lookup, insertion and removal take constant amortised time for any number of
///   members, also for keys that an attacker chose: objects of more than 16 members use a hash
///   table with a random seed.
public struct JSONObject: Sendable {
  struct Member: Sendable {
    var key: String
    /// Nil once the member has been removed; the position is freed later together with others.
    var value: JSONValue?
  }

  private(set) var members: [Member] = []
  private var index = KeyIndex()

  /// The number of members.
  public private(set) var count = 0

  /// True if there are no members.
  public var isEmpty: Bool { count == 0 }

  /// Creates an object without members.
  public init() {}

  /// Creates an object of members in order; the last value of several members with the same key
  /// counts.
  public init(_ members: some Sequence<(String, JSONValue)>) {
    for (key, value) in members { self[key] = value }
  }

  /// The value of a key; nil if there is no such member. Setting nil removes the member.
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

  /// Changes the value of a key in place. Returns the result of `body`, or false if there is no
  /// such key.
  mutating func change(_ key: String, _ body: (inout JSONValue) -> Bool) -> Bool {
    guard let position = position(of: key), var value = members[position].value else {
      return false
    }
    // The value is removed during the change, so it is not shared and need not be copied.
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
  ///
  /// - Returns: Its value, or nil if there was no such member.
  @discardableResult
  public mutating func removeValue(forKey key: String) -> JSONValue? {
    guard let position = position(of: key) else { return nil }
    let value = members[position].value
    members[position].value = nil
    countRemoval()
    return value
  }

  /// Counts a member as removed, and frees the positions of removed members once they are the
  /// majority.
  private mutating func countRemoval() {
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
  /// Returns an iterator over the members in order.
  public func makeIterator() -> Iterator { Iterator(members: members.makeIterator()) }

  /// An iterator over the members in order.
  public struct Iterator: IteratorProtocol {
    var members: IndexingIterator<[Member]>

    /// Returns the next member; nil after the last one.
    public mutating func next() -> (key: String, value: JSONValue)? {
      while let member = members.next() {
        if let value = member.value { return (member.key, value) }
      }
      return nil
    }
  }

  /// The number of members.
  public var underestimatedCount: Int { count }

  /// The keys in order.
  ///
  /// - Complexity: O(number of members).
  public var keys: [String] { map(\.key) }
}

extension JSONObject: Equatable {
  /// Returns true if both have the same members, in any order.
  public static func == (one: JSONObject, other: JSONObject) -> Bool {
    one.count == other.count
      && (one.members.sharesMemory(with: other.members)
        || one.allSatisfy { other[$0.key] == $0.value })
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object of members in order; the last value of several members with the same key
  /// counts.
  public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}
