// SPDX-License-Identifier: Apache-2.0

/// Why one side of a WebSocket ends it.
///
/// - Source: RFC 6455 §7.4; the registry of close codes at IANA.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// What was to be done is done.
  public static let normal = Self(rawValue: 1000)
  /// The server ends, or the page is left.
  public static let goingAway = Self(rawValue: 1001)
  /// What came is no WebSocket.
  public static let protocolError = Self(rawValue: 1002)
  /// A text is no UTF-8.
  public static let invalidText = Self(rawValue: 1007)
  /// The peer is not served any more.
  public static let policyViolation = Self(rawValue: 1008)
  /// A message is larger than what is taken.
  public static let messageTooLarge = Self(rawValue: 1009)

  /// Whether a peer may send it: some stand for closes without a code, others for nothing yet.
  var mayBeSent: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
