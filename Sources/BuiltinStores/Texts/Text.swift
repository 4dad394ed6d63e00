// SPDX-License-Identifier: Apache-2.0

/// The catalogue of texts that people see; each has a stable code for frontends with words of
/// their own.
struct Text {
  let code: String
  let message: String

  static let repositoryFailed = Text(
    code: "repository.failed", message: "Oops something went wrong")
}
