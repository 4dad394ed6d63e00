// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import BuiltinStores
internal import NIOCore

/// The HTTP client that all sources and services of a program share.
///
/// It begins with the first request, so that a program that makes none has no client. Once used it
/// must be shut down, by `run` or `shutdown`, before it is let go of.
///
/// Every request has a connection of its own: a kept one may have been closed by the server just
/// before the next request, which would then fail for no reason that anybody could see, and that
/// of a cancelled request must not live on. A request that is cancelled ends its connection at
/// once; while it still connects, the attempt goes on for nobody until it succeeds or
/// `connectTimeout` is over, and is then closed.
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

  /// - Parameters:
  ///   - connectTimeout: For a connection, TLS included.
  ///   - idleTimeout: Without a byte from a server that has been asked.
  ///   - connectionsPerHost: At the same time; more requests wait. Enough that one that hangs does not make the
  ///     others wait.
  ///   - failed: Takes one line for the operator's log for each request that failed. It tells the
  ///     server, not the path or query, and nothing of what was answered.
  ///
  /// Both are real time, not the time of a store's clock: they bound what a real peer does, and a
  /// test that moves its clock must not make a server late.
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

  /// Begins the threads that requests are made on, for those who will make some.
  ///
  /// SwiftNIO ends the program where it finds no descriptors for them, and later there may be none left.
  static func beginThreads() { _ = HTTPClient.defaultEventLoopGroup }

  /// Breaks off what is going on and makes every later request fail.
  public func shutdown() async {
    let last = phase.withLock { phase in
      defer { phase = .closed }
      return phase
    }
    // Fails only if it has been shut down before.
    if case .open(let client) = last { try? await client.shutdown() }
  }

  /// Asks a server once, and follows nothing; returns with the first bytes of the answer.
  ///
  /// - Throws: `NoAnswer`.
  func get(_ address: HTTPAddress) async throws -> HTTPClientResponse {
    guard let client = client() else { throw NoAnswer(cause: HTTPClientError.alreadyShutdown) }
    var request = HTTPClientRequest(url: address.url)
    request.headers.add(name: "Accept", value: "application/json, text/plain;q=0.9, */*;q=0.1")
    request.headers.add(name: "Connection", value: "close")
    request.headers.add(name: "User-Agent", value: "statewire")
    do {
      return try await client.execute(request, deadline: .distantFuture)
    } catch {
      throw NoAnswer(cause: error)
    }
  }

  /// Tells the operator of a failure.
  func tell(_ failure: RemoteFailure, from address: HTTPAddress, because cause: (any Error)? = nil)
  {
    failed("\(address.origin): \(failure.message)" + (cause.map { " (\($0))" } ?? ""))
  }

  /// The client, which begins now if need be; nil once it has been shut down.
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
    // Followed here, where another server can be told from the same one.
    configuration.redirectConfiguration = .disallow
    // In HTTP/2 a cancelled request leaves its connection open.
    configuration.httpVersion = .http1Only
    // An operator who hears at once that nobody listens is better off than one who waits.
    configuration.connectionPool.retryConnectionEstablishment = false
    // A connection that came about after its request was cancelled has nothing to wait for.
    configuration.connectionPool.idleTimeout = .zero
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
    // Spans would hold the whole URL.
    configuration.tracing.tracer = nil
    return configuration
  }
}
