// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol

/// A condition for the entries of a form, and the text to show if it does not hold.
struct FormRule: Sendable {
  let text: Text
  let isBroken: @Sendable (_ first: FormEntry, _ second: FormEntry) -> Bool

  /// The rules of every form, in the order of their messages.
  static let all = [match, length]

  /// The entries are equal to a reader: composed and decomposed é match.
  static let match = FormRule(text: .entriesDiffer) { !$0.matches($1) }

  /// Neither entry is shorter than 5 characters; white space counts.
  static let length = FormRule(text: .entryTooShort) {
    $0.isShorter(than: 5) || $1.isShorter(than: 5)
  }
}

extension [FormRule] {
  /// Returns the texts of the rules that two entries break, in order, each at most once.
  func broken(by first: FormEntry, _ second: FormEntry) -> [Text] {
    filter { $0.isBroken(first, second) }.map(\.text)
  }
}
