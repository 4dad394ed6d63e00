// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A configuration that stores were opened with; equal ones are one object.
final class SharedConfiguration {
  let kind: String
  /// As JSON text, which takes less room than the tree.
  let text: [UInt8]
  /// What the kind has read from it.
  let value: any Sendable

  init(kind: String, text: [UInt8], value: any Sendable) {
    self.kind = kind
    self.text = text
    self.value = value
  }
}

/// The configurations of the stores that are open.
struct SharedConfigurations {
  private struct Entry {
    weak var configuration: SharedConfiguration?
  }

  private var entries: [Int: Entry] = [:]
  private var pruneCount = 64
  var count: Int { entries.count }

  /// The configuration with a text.
  ///
  /// - Parameter read: Reads it, where no open store has it.
  mutating func configuration(
    of kind: String, _ text: [UInt8], read: () throws(JSONError) -> any Sendable
  ) throws(JSONError) -> SharedConfiguration {
    var hasher = Hasher()
    hasher.combine(kind)
    text.withUnsafeBytes { hasher.combine(bytes: $0) }
    let hash = hasher.finalize()
    if let known = entries[hash]?.configuration, known.kind == kind, known.text == text {
      return known
    }
    let made = SharedConfiguration(kind: kind, text: text, value: try read())
    entries[hash] = Entry(configuration: made)
    if entries.count > pruneCount {
      entries = entries.filter { $0.value.configuration != nil }
      pruneCount = max(64, 2 * entries.count)
    }
    return made
  }
}
