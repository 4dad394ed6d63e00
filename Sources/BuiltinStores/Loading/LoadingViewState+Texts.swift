// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

// Texts and accessibility texts for a plain frontend. They are not on the wire: a frontend in
// another language has its own code for them, with the same words.

extension LoadingViewState {
  /// The accessibility label of the view; nil if the view needs none.
  public var accessibilityLabel: String? {
    if case .failure = self { "An error occurred" } else { nil }
  }

  /// The accessibility value: the message of the failure; nil without a failure.
  public var accessibilityValue: String? {
    if case .failure(let error) = self { error.message } else { nil }
  }

  /// The percent as a text such as `"40%"`; nil if it is unknown or nothing is loading.
  public var percentText: String? {
    guard case .loading(let progress?) = self, !progress.isCancelled else { return nil }
    return progress.percent.map { "\($0)%" }
  }

  /// The message of the progress or of the failure, one line; nil if there is none.
  public var statusText: String? {
    switch self {
    case .loading(let progress?) where progress.isCancelled: "Loading cancelled."
    case .loading(let progress): progress?.message
    case .failure(let error): "Error: \(error.message)"
    case .idle, .loaded: nil
    }
  }
}
