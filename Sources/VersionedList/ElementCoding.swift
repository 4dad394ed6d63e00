// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The encoding of a list's elements, determined once.
final class ElementCoding<Element> {
  /// Writes an element; `null` if it has no text.
  let write: (Element, inout JSONWriter) -> Void
  /// Encodes an element in order to compare it; returns nil if it has no text.
  let state: (Element) -> JSONEncodedState?

  init() where Element: Encodable {
    let encoding = JSONEncoding<Element>()
    write = { encoding.writeOrNull($0, to: &$1) }
    state = { try? JSONEncodedState($0, by: encoding) }
  }
}
