// SPDX-License-Identifier: Apache-2.0

extension String {
  /// Concatenates texts with one allocation; repeated `+` would copy the text again for each part.
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
