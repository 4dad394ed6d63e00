// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The members of an object, in the order in which they were added.
///
/// Keys compare by their UTF-8 bytes.
struct SharedMembers: Sendable {
  struct Member: Sendable {
    let key: String
    var value: SharedValue
    /// Greater than those of the members before it.
    fileprivate let number: Int
  }

  /// The members by the hash of their keys; one bucket, in their order, if there are few. Copies share
  /// the buckets that are equal: a change of a copy copies one bucket and the list of buckets.
  private(set) var buckets: [[Member]] = [[]]
  private(set) var count = 0
  private var lastNumber = 0

  /// The most members per bucket, on average.
  private static let maximum = 32

  /// Creates an object of members.
  init(_ members: JSONObject) {
    var needed = 1
    while members.count > Self.maximum * needed { needed *= 4 }
    buckets = Array(repeating: [], count: needed)
    if needed == 1 { buckets[0].reserveCapacity(members.count) }
    for (key, value) in members { append(key, SharedValue(value)) }
  }

  subscript(key: String) -> SharedValue? {
    let bucket = bucket(key)
    return index(of: key, in: bucket).map { buckets[bucket][$0].value }
  }

  private func bucket(_ key: String) -> Int {
    // Their number is a power of two. Not the hash of the text, which is equal for canonically equivalent keys.
    buckets.count == 1 ? 0 : key.byteHash & (buckets.count - 1)
  }

  private func index(of key: String, in bucket: Int) -> Int? {
    // The indices, because a search of the members copies each of them.
    buckets[bucket].indices.first { buckets[bucket][$0].key.hasSameBytes(as: key) }
  }

  /// Changes the value of a key in place; returns nil if there is no such key.
  mutating func update<Result>(
    _ key: String, _ body: (inout SharedValue) -> Result?
  ) -> Result? {
    let bucket = bucket(key)
    guard let index = index(of: key, in: bucket) else { return nil }
    return body(&buckets[bucket][index].value)
  }

  /// Sets the value of a key; a new key becomes the last one.
  ///
  /// - Returns: The value before; nil if the key is new.
  mutating func set(_ key: String, to value: SharedValue) -> SharedValue? {
    let old = update(key) { held in
      defer { held = value }
      return held
    }
    guard old == nil else { return old }
    append(key, value)
    if count > Self.maximum * buckets.count { spread() }
    return nil
  }

  private mutating func append(_ key: String, _ value: SharedValue) {
    lastNumber += 1
    buckets[bucket(key)].append(Member(key: key, value: value, number: lastNumber))
    count += 1
  }

  /// Returns true if both have the same keys with the same data. Shared buckets are not compared.
  func isSame(as other: SharedMembers) -> Bool {
    guard count == other.count else { return false }
    // With equal numbers of buckets a key has the same bucket in both.
    guard buckets.count == other.buckets.count else {
      return buckets.allSatisfy {
        $0.allSatisfy { Self.has(other.buckets[other.bucket($0.key)], $0) }
      }
    }
    return zip(buckets, other.buckets).allSatisfy { own, others in
      own.sharesMemory(with: others) || own.allSatisfy { Self.has(others, $0) }
    }
  }

  private static func has(_ bucket: [Member], _ member: Member) -> Bool {
    bucket.first { $0.key.hasSameBytes(as: member.key) }?.value.isSame(as: member.value) ?? false
  }

  /// Distributes the members to more buckets.
  private mutating func spread() {
    let members = Array(self)
    buckets = Array(repeating: [], count: buckets.count * 4)
    for member in members { buckets[bucket(member.key)].append(member) }
  }

  /// Removes a member; returns nil if there is no such key.
  mutating func remove(_ key: String) -> SharedValue? {
    let bucket = bucket(key)
    guard let index = index(of: key, in: bucket) else { return nil }
    count -= 1
    return buckets[bucket].remove(at: index).value
  }
}

extension SharedMembers: Sequence {
  /// Returns an iterator over the members in their order.
  func makeIterator() -> IndexingIterator<[Member]> {
    guard buckets.count > 1 else { return buckets[0].makeIterator() }
    return buckets.flatMap { $0 }.sorted { $0.number < $1.number }.makeIterator()
  }
}
