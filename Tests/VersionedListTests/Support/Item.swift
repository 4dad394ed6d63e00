// SPDX-License-Identifier: Apache-2.0

import VersionedList

/// An element of the lists under test.
struct Item: Codable, Equatable, Identifiable, Sendable {
  let id: String
  var title: String
  /// A number that JSON cannot represent, in some tests.
  var weight: Double?

  init(_ id: String, _ title: String = "", weight: Double? = nil) {
    self.id = id
    self.title = title
    self.weight = weight
  }
}

extension KeyedList<Item> {
  /// Creates a list of items with these ids, whose titles are the ids.
  init(ids: some Sequence<String>) { self.init(ids.map { Item($0, $0) }) }

  /// Creates a list of items with the ids "1" to `count`.
  init(count: Int) { self.init(ids: (1..<count + 1).lazy.map { "\($0)" }) }

  var ids: [String] { map(\.id) }
}
