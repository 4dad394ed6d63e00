// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A configuration with which stores were opened. Equal configurations share one object.
final class SharedConfiguration {
  let kind: String
  /// The configuration as JSON text, which needs less memory than the tree.
  let text: [UInt8]
  /// The value that the kind has decoded.
  let value: any Sendable

  init(kind: String, text: [UInt8], value: any Sendable) {
    self.kind = kind
    self.text = text
    self.value = value
  }
}

/// The configurations of the open stores.
struct SharedConfigurations {
  private struct Entry {
    weak var configuration: SharedConfiguration?
  }

  private var entries: [Int: Entry] = [:]
  private var pruneCount = 64
  var count: Int { entries.count }

  /// Returns the configuration with a text.
  ///
  /// - Parameter read: Decodes the configuration; called if no open store has it.
  /// - Throws: The error of `read`.
  /// - Complexity: O(length of the text), amortised.
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
