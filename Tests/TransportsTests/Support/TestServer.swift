// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import Foundation
import ServerCore
import TransportTestSupport
import Transports

/// Runs `body` with a server at an address, and stops the server.
///
/// - Parameter timeToFirstRequest: Long by default, because with a real clock and a slow machine it
///   includes the handshake.
func withServer(
  _ address: ServerAddress = .tcp(host: "127.0.0.1", port: 0), limits: ServerLimits = .init(),
  timeToFirstRequest: Duration? = .seconds(600), credentials: Credentials? = nil,
  certificate: ServerCertificate? = nil, site: WebSite = .init(),
  now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
  _ body: (Server) async throws -> Void
) async throws {
  var limits = limits
  limits.timeToFirstRequest = timeToFirstRequest
  let server = try await Server.start(
    kinds: [], settings: ServerSettings(limits: limits, credentials: credentials, now: now),
    listeners: [address], certificate: certificate, site: site)
  do {
    try await body(server)
  } catch {
    await server.stop()
    throw error
  }
  await server.stop()
}

let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
let pong = #"{"jsonrpc":"2.0","id":1,"result":{}}"#

extension ClientConnection {
  /// Sends a ping, and returns true if the response arrives.
  func pings() async throws -> Bool {
    try await send(ping)
    return try await receiveText() == pong
  }

  /// Returns the name of the limit in the error that arrives next; nil for any other message.
  func receiveLimit() async throws -> String? {
    guard let text = try await receiveText(), text.contains("\"id\":null"),
      text.contains("\"code\":-32015"), let start = text.range(of: "\"limit\":\"")
    else { return nil }
    return String(text[start.upperBound...].prefix { $0 != "\"" })
  }
}
