// SPDX-License-Identifier: Apache-2.0

internal import ServerCore

/// The transport between a client and the server.
enum ClientTransport: Int, CaseIterable {
  case stdio
  case tcp
  case tls
  case unix
  case webSocket
  case secureWebSocket

  /// True if the connection uses TLS.
  var isSecure: Bool { self == .tls || self == .secureWebSocket }

  /// True if the connection is a WebSocket.
  var isWebSocket: Bool { self == .webSocket || self == .secureWebSocket }

  /// The name in metrics: as in the addresses of listeners.
  var name: String {
    switch self {
    case .stdio: "stdio"
    case .tcp: "tcp"
    case .tls: "tls"
    case .unix: "unix"
    case .webSocket: "ws"
    case .secureWebSocket: "wss"
    }
  }
}

/// The metrics of the connections of one event loop, whose thread changes them.
struct ConnectionMetrics: Sendable {
  private let transports = ClientTransport.allCases.map { _ in TransportMetrics() }

  subscript(_ transport: ClientTransport) -> TransportMetrics { transports[transport.rawValue] }
}

/// The metrics of the connections with one transport on one event loop.
final class TransportMetrics: Sendable {
  /// Number of open connections.
  let connections = MetricValue()
  /// Number of connections that were opened.
  let openedConnections = MetricValue()
  /// Number of bytes that clients have sent, without TLS.
  let receivedBytes = MetricValue()
  /// Number of bytes for clients, without TLS.
  let sentBytes = MetricValue()

  /// Counts a new connection.
  func opened() {
    connections.add()
    openedConnections.add()
  }

  /// Counts a connection that has ended.
  func closed() { connections.add(-1) }
}
