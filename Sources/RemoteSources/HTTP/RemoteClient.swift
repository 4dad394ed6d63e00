// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BuiltinStores
internal import NIOCore

/// The HTTP client that all sources and services of a program share.
///
/// It starts with the first request, so a program without requests has no client. After a request
/// it must be shut down by `shutdown` before it is released.
///
/// Each request has its own connection. A reused connection may have been closed by the server just
/// before the request, which would then fail without a visible reason. The connection of a
/// cancelled request must not stay open either: cancellation closes it immediately. If it is not
/// established yet, the attempt continues until it succeeds or `connectTimeout` has passed; it is
/// closed then.
public final class RemoteClient: Sendable {
  private enum Phase {
    case unused
    case open(HTTPClient)
    case closed
  }

  private let phase = Lock(Phase.unused)
  private let connectTimeout: Duration
  private let idleTimeout: Duration
  private let connectionsPerHost: Int
  private let failed: @Sendable (String) -> Void

  /// Creates a client that has not started.
  ///
  /// - Parameters:
  ///   - connectTimeout: The limit for establishing a connection, including TLS.
  ///   - idleTimeout: The limit without a byte from a server after the request.
  ///   - connectionsPerHost: Number of connections to one host at the same time; more requests
  ///     wait. The default is high enough that one hanging request does not delay other
  ///     requests.
  ///   - failed: Called with one line for the operator's log for each failed request. It contains
  ///     the server, but not the path or query, and nothing of the response.
  ///
  /// Both timeouts are real time and not the time of a store's clock: they bound a real server, and
  /// a test that advances the virtual clock must not cause a timeout.
  public init(
    connectTimeout: Duration = .seconds(10), idleTimeout: Duration = .seconds(60),
    connectionsPerHost: Int = 256,
    failed: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.connectTimeout = connectTimeout
    self.idleTimeout = idleTimeout
    self.connectionsPerHost = connectionsPerHost
    self.failed = failed
  }

  /// Starts the threads for requests.
  ///
  /// SwiftNIO ends the program if it gets no descriptors for them, and later there may be none
  /// left.
  static func startThreads() { _ = HTTPClient.defaultEventLoopGroup }

  /// Cancels all current requests and makes later ones fail.
  public func shutdown() async {
    let last = phase.withLock { phase in
      defer { phase = .closed }
      return phase
    }
    // Fails only if it was shut down before.
    if case .open(let client) = last { try? await client.shutdown() }
  }

  /// Sends one request and follows no redirect; returns with the first bytes of the response.
  ///
  /// - Throws: `NoResponse`.
  func get(_ address: HTTPAddress) async throws -> HTTPClientResponse {
    guard let client = client() else { throw NoResponse(cause: HTTPClientError.alreadyShutdown) }
    var request = HTTPClientRequest(url: address.url)
    request.headers.add(name: "Accept", value: "application/json, text/plain;q=0.9, */*;q=0.1")
    request.headers.add(name: "Connection", value: "close")
    request.headers.add(name: "User-Agent", value: "statewire")
    for (name, value) in CurrentSpan.value?.headers ?? [] {
      request.headers.add(name: name, value: value)
    }
    do {
      return try await client.execute(request, deadline: .distantFuture)
    } catch {
      throw NoResponse(cause: error)
    }
  }

  /// Writes a failure to the operator's log.
  func log(_ failure: RemoteFailure, from address: HTTPAddress, cause: (any Error)? = nil) {
    failed("\(address.origin): \(failure.message)" + (cause.map { " (\($0))" } ?? ""))
  }

  /// Returns the client, and starts it if necessary; nil after the shutdown.
  private func client() -> HTTPClient? {
    phase.withLock { phase in
      switch phase {
      case .open(let client): return client
      case .closed: return nil
      case .unused:
        let client = HTTPClient(configuration: configuration)
        phase = .open(client)
        return client
      }
    }
  }

  private var configuration: HTTPClient.Configuration {
    var configuration = HTTPClient.Configuration()
    configuration.timeout.connect = TimeAmount(connectTimeout)
    configuration.timeout.read = TimeAmount(idleTimeout)
    // Redirects are followed by `HTTPFetch`, which accepts only the same server.
    configuration.redirectConfiguration = .disallow
    // In HTTP/2 a cancelled request leaves its connection open.
    configuration.httpVersion = .http1Only
    // The operator should learn immediately that no server listens.
    configuration.connectionPool.retryConnectionEstablishment = false
    // A connection that is established after its request was cancelled has no further use.
    configuration.connectionPool.idleTimeout = .zero
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
    // Spans would contain the whole URL.
    configuration.tracing.tracer = nil
    return configuration
  }
}
