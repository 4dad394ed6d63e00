// SPDX-License-Identifier: Apache-2.0

/// The catalogue of texts that people read. Each has a stable code, for frontends with their own
/// texts.
struct Text {
  let code: String
  let message: String

  static let repositoryFailed = Text(
    code: "repository.failed", message: "Oops something went wrong")
}
