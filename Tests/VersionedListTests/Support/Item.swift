// SPDX-License-Identifier: Apache-2.0

import VersionedList

/// An element of the lists that are tested.
struct Item: Codable, Equatable, Identifiable, Sendable {
  let id: String
  var title: String
  /// Not a number JSON has, in some tests.
  var weight: Double?

  init(_ id: String, _ title: String = "", weight: Double? = nil) {
    self.id = id
    self.title = title
    self.weight = weight
  }
}

extension KeyedList<Item> {
  /// Items with these ids, titled like them.
  init(ids: some Sequence<String>) { self.init(ids.map { Item($0, $0) }) }

  /// Items with the ids "1" to the count.
  init(count: Int) { self.init(ids: (1..<count + 1).lazy.map { "\($0)" }) }

  var ids: [String] { map(\.id) }
}
