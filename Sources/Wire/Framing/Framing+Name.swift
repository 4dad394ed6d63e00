// SPDX-License-Identifier: Apache-2.0

extension Framing {
  /// Creates the framing with the name `lines` or `headers`; nil for another name.
  public init?(name: String) {
    switch name {
    case "lines": self = .lines
    case "headers": self = .headers
    default: return nil
    }
  }

  /// The name in options and configuration: `lines` or `headers`.
  public var name: String {
    switch self {
    case .lines: "lines"
    case .headers: "headers"
    }
  }
}
