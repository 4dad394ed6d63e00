// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStoresProtocol

extension Text {
  static let requestTimedOut = Text(code: "timeout", message: "Request timed out")
  static let sourceFailed = Text(code: "source.failed", message: "The source has failed")
  static let loadingFault = Text(code: "fault.injected", message: "A fault was injected")
  static let tooLargeTogether = Text(
    code: "all.tooLarge", message: "The values are too large together")
  static let loadingCancelled = Text(code: "cancelled", message: "Cancelled")

  /// What is shown while a load waits for its next attempt.
  static func retrying(_ attempt: Int, of attempts: Int) -> String {
    "Retrying… (attempt \(attempt) of \(attempts))"
  }

  /// The text as the failure of a load.
  var loadingFailure: LoadingFailure { LoadingFailure(code: code, message: message) }
}

extension LoadingFailure {
  /// What a load gives that was cancelled; nobody hears it.
  static let cancelled = Text.loadingCancelled.loadingFailure
  /// What several loaders give whose values are larger together than a value may be.
  static let tooLargeTogether = Text.tooLargeTogether.loadingFailure
  /// What an operation gives that an injected fault lets fail.
  static let faultInjected = Text.loadingFault.loadingFailure
}
