// SPDX-License-Identifier: Apache-2.0

public import BuiltinStoresProtocol

// What a plain frontend shows and says of a loader. None of it is on the wire: a frontend in
// another language brings its own, with these words.

extension LoadingViewState {
  /// What a screen reader calls the view; nil where the view speaks for itself.
  public var accessibilityLabel: String? {
    if case .failure = self { "An error occurred" } else { nil }
  }

  /// What a screen reader says after the label: what went wrong.
  public var accessibilityValue: String? {
    if case .failure(let error) = self { error.message } else { nil }
  }

  /// How much is done, `"40%"`; nil if nobody knows, or nothing goes on.
  public var percentText: String? {
    guard case .loading(let progress?) = self, !progress.isCancelled else { return nil }
    return progress.percent.map { "\($0)%" }
  }

  /// One line about what goes on or went wrong; nil if there is nothing to say.
  public var statusText: String? {
    switch self {
    case .loading(let progress?) where progress.isCancelled: "Loading cancelled."
    case .loading(let progress): progress?.message
    case .failure(let error): "Error: \(error.message)"
    case .idle, .loaded: nil
    }
  }
}
