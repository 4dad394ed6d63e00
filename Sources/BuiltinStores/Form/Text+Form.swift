// SPDX-License-Identifier: Apache-2.0

extension Text {
  static let entriesDiffer = Text(
    code: "form.entriesDiffer", message: "Values for fields must match.")
  static let entryTooShort = Text(
    code: "form.entryTooShort", message: "Please enter values of at least 5 characters.")
}
