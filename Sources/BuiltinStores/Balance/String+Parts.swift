// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Parts put together in one go, where `+` would move what is there for each of them.
  init(parts: String...) {
    self.init(unsafeUninitializedCapacity: parts.reduce(0) { $0 + $1.utf8.count }) { text in
      var end = 0
      for part in parts {
        end += UnsafeMutableBufferPointer(rebasing: text[end...]).initialize(from: part.utf8).index
      }
      return end
    }
  }
}
