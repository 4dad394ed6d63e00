// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A box that contains an element of a list, so that moving entries within tree nodes moves one
/// word each.
final class ElementBox<Element: Sendable>: Sendable {
  let element: Element
  init(_ element: Element) { self.element = element }
}

extension ElementBox where Element: Encodable {
  // A method of the box, because a call from the list would copy the element.
  func write(by encoding: JSONEncoding<Element>, to writer: inout JSONWriter) {
    encoding.writeOrNull(element, to: &writer)
  }
}

/// A box that contains an element of any type.
///
/// The trees of a list use only this type, so there is one tree type for all lists and the compiler
/// can optimize it completely. A generic tree, which queries the run-time details of its type at
/// each step, cost four times as much.
typealias AnyBox = any AnyObject & Sendable
