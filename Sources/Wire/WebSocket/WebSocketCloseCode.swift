// SPDX-License-Identifier: Apache-2.0

/// The reason why an endpoint closes a WebSocket.
///
/// - Source: RFC 6455 §7.4; the registry of close codes at IANA.
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
  /// The code on the wire.
  public var rawValue: UInt16

  /// Creates a code of a number, which need not be known.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The purpose of the connection is fulfilled.
  public static let normal = Self(rawValue: 1000)
  /// The server shuts down, or the user leaves the page.
  public static let goingAway = Self(rawValue: 1001)
  /// The endpoint received bytes that violate the WebSocket protocol.
  public static let protocolError = Self(rawValue: 1002)
  /// A text message is not UTF-8.
  public static let invalidText = Self(rawValue: 1007)
  /// The server no longer serves the client.
  public static let policyViolation = Self(rawValue: 1008)
  /// A message exceeds the size limit.
  public static let messageTooLarge = Self(rawValue: 1009)

  /// The server restarts, or another one continues its sessions: the client should connect again.
  public static let serviceRestart = Self(rawValue: 1012)

  /// True if an endpoint may send the code: some codes are reserved for closes without a code,
  /// others are unassigned.
  var mayBeSent: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
