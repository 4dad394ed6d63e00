// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol

extension Text {
  static let requestTimedOut = Text(code: "timeout", message: "Request timed out")
  static let sourceFailed = Text(code: "source.failed", message: "The source has failed")
  static let loadingFault = Text(code: "fault.injected", message: "A fault was injected")
  static let tooLargeTogether = Text(
    code: "all.tooLarge", message: "The values are too large together")
  static let loadingCancelled = Text(code: "cancelled", message: "Cancelled")

  /// Returns the text that is shown while a load waits for its next attempt.
  static func retrying(_ attempt: Int, of attempts: Int) -> String {
    "Retrying… (attempt \(attempt) of \(attempts))"
  }

  /// The text as the failure of a load.
  var loadingFailure: LoadingFailure { LoadingFailure(code: code, message: message) }
}

extension LoadingFailure {
  /// The failure of a cancelled load; it is never shown.
  static let cancelled = Text.loadingCancelled.loadingFailure
  /// The failure if the values of several loaders are larger together than a value may be.
  static let tooLargeTogether = Text.tooLargeTogether.loadingFailure
  /// The failure of an operation with an injected fault.
  static let faultInjected = Text.loadingFault.loadingFailure
}
