// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
internal import AsyncHTTPClient
internal import ClientTransports
internal import NIOCore
internal import NIOHTTP1

/// The command `health` of a program: a check through the admin interface of a server.
///
/// Containers and supervisors run it, where no other HTTP client exists.
public struct HealthCommand<Program: ServerProgram>: AsyncParsableCommand {
  /// The name and the help of the command.
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "health",
      abstract: "Checks through the admin interface that the event loops respond.",
      discussion: "Prints the response. The exit status is 0 if the check passes, otherwise 1.")
  }

  @Argument(help: "The address of --admin, HOST:PORT, or tls://HOST:PORT for one with TLS.")
  var address = "127.0.0.1:7229"

  @Flag(help: "Check that the server is ready for clients.")
  var ready = false

  @OptionGroup var token: TokenFileOption

  @OptionGroup var trust: TrustOptions

  /// Creates the command with its defaults.
  public init() {}

  /// Checks the options, without reading files.
  public func validate() throws {
    if trust.areGiven, !address.hasPrefix("tls://") {
      throw ValidationError("--tls-… requires an address tls://HOST:PORT")
    }
    if token.isGiven, let listener = ListenerAddress(address), !listener.isLoopback {
      throw ValidationError(
        "--token-file requires tls://HOST:PORT or an address of this machine, because others can read it"
      )
    }
  }

  /// Sends the check and prints the response.
  ///
  /// - Throws: `StartupError` if there is no response; `ExitCode.failure` if the check fails.
  public func run() async throws {
    guard let request = HealthRequest(address, trust: trust.trust, token: try token.token()) else {
      throw StartupError(
        "the address must be HOST:PORT or tls://HOST:PORT, for example 127.0.0.1:7229")
    }
    let response = try await request.send(path: ready ? "/readyz" : "/healthz")
    Output.show(response.line)
    if !response.isGood { throw ExitCode.failure }
  }
}

/// A request to the admin interface of a server. It waits at most five seconds.
struct HealthRequest {
  /// A response.
  struct Response: Equatable {
    /// True for the status 200.
    let isGood: Bool
    /// The first line of the body.
    let line: String
  }

  private let address: ServerAddress
  private let origin: String
  /// The servers to accept; nil for a connection without TLS.
  private let trust: ClientTrust?
  private let token: String?

  /// Creates a request; nil if the address is neither `HOST:PORT` nor `tls://HOST:PORT`.
  ///
  /// - Parameters:
  ///   - trust: The servers to accept over TLS.
  ///   - token: The token of an operator; nil if there is none.
  init?(_ text: String, trust: ClientTrust, token: String?) {
    guard let address = ServerAddress(text) else { return nil }
    switch address {
    case .tcp(let host, let port):
      (origin, self.trust) = ("http://\(Self.authority(host, port))", nil)
    case .tls(let host, let port):
      (origin, self.trust) = ("https://\(Self.authority(host, port))", trust)
    case .web, .secureWeb, .unix: return nil
    }
    (self.address, self.token) = (address, token)
  }

  private static func authority(_ host: String, _ port: Int) -> String {
    "\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  /// Sends the request.
  ///
  /// - Throws: `StartupError` with the reason why there is no response.
  func send(path: String) async throws -> Response {
    do {
      let client = try client()
      let tooLong = StartupError("no response from the server at \(address) within 5 s")
      do {
        let response = try await withTimeLimit(.seconds(5), tooLong) {
          let response = try await client.execute(request(path), deadline: .distantFuture)
          let body = try await response.body.collect(upTo: 64 << 10)
          let line = String(String(buffer: body).prefix { !$0.isNewline })
          return Response(
            isGood: response.status == .ok, line: line.isEmpty ? "HTTP \(response.status)" : line)
        }
        try await client.shutdown()
        return response
      } catch {
        try? await client.shutdown()
        throw error
      }
    } catch let error as StartupError {
      throw error
    } catch {
      throw StartupError(
        "no response from the server at \(address): \(reason(error))", cause: error)
    }
  }

  private func client() throws -> HTTPClient {
    var configuration = HTTPClient.Configuration(
      tlsConfiguration: try trust?.configuration(), redirectConfiguration: .disallow)
    configuration.httpVersion = .http1Only
    // The client ends only after an attempt to connect has ended.
    configuration.timeout.connect = .seconds(5)
    configuration.connectionPool.retryConnectionEstablishment = false
    return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  private func request(_ path: String) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: origin + path)
    if let token { request.headers.add(name: "Authorization", value: "Bearer \(token)") }
    return request
  }

  private func reason(_ error: any Error) -> String {
    switch error as? HTTPClientError {
    case .remoteConnectionClosed:
      trust == nil
        ? "the server closed the connection; if it uses TLS, pass tls://HOST:PORT"
        : "the server closed the connection"
    case .connectTimeout: "the server did not respond in time"
    // Without its values, which may be the token.
    case let error?: error.shortDescription
    case nil: ClientConnection.reason(for: error)
    }
  }
}
