// SPDX-License-Identifier: Apache-2.0

extension Framing {
  /// The framing that people call `lines` or `headers`.
  public init?(name: String) {
    switch name {
    case "lines": self = .lines
    case "headers": self = .headers
    default: return nil
    }
  }

  /// What people call it.
  public var name: String {
    switch self {
    case .lines: "lines"
    case .headers: "headers"
    }
  }
}
