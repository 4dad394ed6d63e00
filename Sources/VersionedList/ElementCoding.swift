// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// How the elements of a list are written, found out once.
final class ElementCoding<Element> {
  /// Writes an element; `null` if it has no text.
  let write: (Element, inout JSONWriter) -> Void
  /// An element to be compared; nil if it has no text.
  let state: (Element) -> JSONEncodedState?

  init() where Element: Encodable {
    let encoding = JSONEncoding<Element>()
    write = { encoding.writeOrNull($0, to: &$1) }
    state = { try? JSONEncodedState($0, by: encoding) }
  }
}
