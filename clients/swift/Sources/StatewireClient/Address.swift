// SPDX-License-Identifier: Apache-2.0

internal import ClientTransports

/// The address of a server, or the command that starts it.
public struct Address: Sendable {
  private enum Place {
    case program([String])
    case server(ServerAddress, ClientTrust)
  }

  private let place: Place

  /// A server that the client starts, connects to over its standard input and output, and ends.
  ///
  /// - Parameter command: The program and its arguments, such as `["statewire", "serve"]`; a name
  ///   without `/` is searched in `PATH`.
  public static func program(_ command: [String]) -> Address {
    Address(place: .program(command))
  }

  /// Reads `tcp://HOST:PORT`, `tls://HOST:PORT`, `ws://HOST:PORT`, `wss://HOST:PORT` or
  /// `unix:PATH`; an IPv6 address is written in brackets.
  ///
  /// - Parameters:
  ///   - text: The address.
  ///   - authority: For TLS, the path of a PEM file with the certificates of trusted authorities;
  /// nil
  ///     trusts those of the system.
  ///   - certificate: The path of the client certificate, for a server that requires one.
  ///   - key: The path of its private key.
  public init?(
    _ text: String, authority: String? = nil, certificate: String? = nil, key: String? = nil
  ) {
    guard let address = ServerAddress(text) else { return nil }
    var trust = ClientTrust()
    trust.authority = authority
    trust.certificate = certificate
    trust.key = key
    place = .server(address, trust)
  }

  private init(place: Place) { self.place = place }

  /// Connects, or starts the program.
  func open(maximumMessageBytes: Int) async throws -> ClientConnection {
    switch place {
    case .program(let command):
      try await ClientConnection.spawn(command, maximumMessageBytes: maximumMessageBytes)
    case .server(let address, let trust):
      try await ClientConnection.connect(
        to: address, maximumMessageBytes: maximumMessageBytes, trust: trust)
    }
  }
}
