// SPDX-License-Identifier: Apache-2.0

/// A name that is compared by its bytes, as the server does. `String` compares by canonical
/// equivalence.
struct ByteName: Hashable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  static func == (one: ByteName, other: ByteName) -> Bool {
    one.text.utf8.elementsEqual(other.text.utf8)
  }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
