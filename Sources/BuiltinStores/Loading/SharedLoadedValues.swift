// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol

/// A table of the loaded values that sessions hold, so that equal values share memory.
final class SharedLoadedValues: Sendable {
  private struct Entry {
    weak var storage: LoadedValue.Storage?
  }

  private struct Table {
    var entries: [Int: Entry] = [:]
    var pruneCount = 64
  }

  private let table = Lock(Table())

  /// Returns the value that is already held and equal to this one, or else this one.
  func shared(_ value: LoadedValue) -> LoadedValue {
    let hash = value.storage.text.withUnsafeBytes { text in
      var hasher = Hasher()
      hasher.combine(bytes: text)
      return hasher.finalize()
    }
    let held = table.withLock { $0.entries[hash]?.storage.map(LoadedValue.init(storage:)) }
    if let held, held == value { return held }
    table.withLock { table in
      table.entries[hash] = Entry(storage: value.storage)
      if table.entries.count > table.pruneCount {
        table.entries = table.entries.filter { $0.value.storage != nil }
        table.pruneCount = max(64, 2 * table.entries.count)
      }
    }
    return value
  }
}
