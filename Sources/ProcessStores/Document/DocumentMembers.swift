// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import VersionedList

/// The members of an object, in the order in which they were added.
enum DocumentMembers: Sendable {
  struct Member: Identifiable, Sendable {
    /// The key.
    let id: String
    var value: DocumentValue
  }

  case few([Member])
  /// Members that are found by their keys without a search through all.
  case many(KeyedList<Member>)

  private static let maximumFew = 32

  /// Creates members with different keys, in order.
  init(_ members: [Member]) {
    self = members.count > Self.maximumFew ? .many(KeyedList(members)) : .few(members)
  }

  var count: Int {
    switch self {
    case .few(let members): members.count
    case .many(let members): members.count
    }
  }

  subscript(key: String) -> DocumentValue? {
    switch self {
    case .few(let members): members.first { $0.id.hasSameBytes(as: key) }?.value
    case .many(let members): members[id: key]?.value
    }
  }

  /// Changes the value of a key in place; returns nil if there is no such key.
  mutating func update<Result>(
    _ key: String, _ body: (inout DocumentValue) -> Result?
  ) -> Result? {
    switch consume self {
    case .few(var members):
      defer { self = .few(members) }
      guard let index = members.firstIndex(where: { $0.id.hasSameBytes(as: key) }) else {
        return nil
      }
      return body(&members[index].value)
    case .many(var members):
      defer { self = .many(members) }
      var result: Result?
      members.update(id: key) { result = body(&$0.value) }
      return result
    }
  }

  /// Sets the value of a key; a new key becomes the last one.
  ///
  /// - Returns: The value before; nil if the key is new.
  mutating func set(_ key: String, to value: DocumentValue) -> DocumentValue? {
    let old = update(key) { held in
      defer { held = value }
      return held
    }
    if old == nil { append(Member(id: key, value: value)) }
    return old
  }

  private mutating func append(_ member: Member) {
    switch consume self {
    case .few(var members):
      members.append(member)
      self = DocumentMembers(members)
    case .many(var members):
      members.append(member)
      self = .many(members)
    }
  }

  /// Removes a member; returns nil if there is no such key.
  mutating func remove(_ key: String) -> DocumentValue? {
    switch consume self {
    case .few(var members):
      defer { self = .few(members) }
      return members.firstIndex { $0.id.hasSameBytes(as: key) }.map {
        members.remove(at: $0).value
      }
    case .many(var members):
      defer { self = .many(members) }
      return members.remove(id: key)?.value
    }
  }
}

extension DocumentMembers: Sequence {
  struct Iterator: IteratorProtocol {
    fileprivate var few: IndexingIterator<[Member]>
    fileprivate var many: KeyedList<Member>.Iterator?

    mutating func next() -> Member? { few.next() ?? many?.next() }
  }

  func makeIterator() -> Iterator {
    switch self {
    case .few(let members): Iterator(few: members.makeIterator(), many: nil)
    case .many(let members): Iterator(few: [].makeIterator(), many: members.makeIterator())
    }
  }
}
