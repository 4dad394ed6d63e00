// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The speed at which the pauses of a conversation (`@pause`) are played.
public enum Pace: Sendable, Equatable {
  /// Without pauses.
  case maximum
  /// This many times as fast as recorded; 1 is the recorded speed.
  case factor(Double)

  /// Parses `max`, `real` or a factor; nil if the text is none of these. Factors are more than 0
  /// and at most a million.
  public init?(_ text: String) {
    switch text.lowercased() {
    case "max": self = .maximum
    case "real": self = .factor(1)
    default:
      guard let factor = Double(text), factor > 0, factor <= 1_000_000 else { return nil }
      self = .factor(factor)
    }
  }

  /// Returns the time to wait for a recorded pause; nil for none.
  func time(of pause: Duration) -> Duration? {
    switch self {
    case .maximum: nil
    case .factor(let factor): pause / factor
    }
  }
}

/// The values of the names that a conversation does not receive from the server (`@given`).
public struct GivenValues: Sendable, Equatable {
  private var values: [String: String] = [:]

  /// No values.
  public init() {}

  /// The value of a name.
  public subscript(name: String) -> String? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// The first of some names that has no value.
  func missing(of names: [String]) -> String? { names.first { values[$0] == nil } }

  /// The names of a conversation with their values.
  func bindings(of names: [String]) -> Bindings {
    var bindings = Bindings()
    for name in names { if let value = values[name] { bindings.bind(name, toGiven: value) } }
    return bindings
  }
}
