// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// An element of a list by reference, so that moving tree nodes about touches one word of each.
final class ElementBox<Element: Sendable>: Sendable {
  let element: Element
  init(_ element: Element) { self.element = element }
}

extension ElementBox where Element: Encodable {
  // Here, and not where the list is, since here no copy is made of it.
  func write(by encoding: JSONEncoding<Element>, to writer: inout JSONWriter) {
    encoding.writeOrNull(element, to: &writer)
  }
}

/// A box of whatever a list holds.
///
/// The trees below a list know no more of its elements than this, so there is one kind of tree for
/// all lists and the compiler sees it whole: a generic one, asked for its type's details at each
/// step, cost four times as much.
typealias AnyBox = any AnyObject & Sendable
