// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A small dictionary with string keys that are compared by their bytes.
///
/// Thousands of sessions have one or two elements of most kinds. A dictionary would need several
/// times the memory, and is not faster for up to dozens of names.
///
/// - Complexity: O(n) for a lookup.
struct ByName<Value> {
  private var entries: [(name: ByteString, value: Value)] = []

  var count: Int { entries.count }

  /// The values, in the order in which they were added.
  var values: some Sequence<Value> { entries.lazy.map(\.value) }

  subscript(name: String) -> Value? {
    get { index(of: name).map { entries[$0].value } }
    set {
      switch (index(of: name), newValue) {
      case (let index?, let value?): entries[index].value = value
      case (let index?, nil): entries.remove(at: index)
      case (nil, let value?): entries.append((ByteString(name), value))
      case (nil, nil): break
      }
    }
  }

  mutating func removeAll() { entries.removeAll() }

  private func index(of name: String) -> Int? {
    let name = ByteString(name)
    return entries.firstIndex { $0.name == name }
  }
}
