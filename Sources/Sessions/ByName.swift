// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// A few values by their names, which are compared by their bytes.
///
/// A session has one or two of most things, and there are thousands of sessions: a dictionary takes
/// several times the memory, and up to dozens of names it is no faster.
struct ByName<Value> {
  private var entries: [(name: ByteString, value: Value)] = []

  var count: Int { entries.count }

  /// In the order in which the names came.
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
