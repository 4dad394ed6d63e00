// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// Loads what a URL of the operator's holds.
///
/// - Value: the JSON of the answer where its `Content-Type` says so, else its UTF-8 text as a
///   string.
/// - Progress: 0 to 100 by `Content-Length`, each once; without one, once with no percent.
/// - Failure: any status but 200, more bytes than allowed, redirects to another server.
/// - Cancellation: closes the connection at once; nothing is read any more.
public struct HTTPSource: LoadingSource {
  /// How many bytes a source may have unless the operator says otherwise: 16 MiB.
  public static let maximumBytes = 16 << 20

  private let fetch: HTTPFetch

  /// - Parameters:
  ///   - address: What is asked.
  ///   - client: What asks.
  ///   - maximumBytes: How many bytes an answer may have.
  ///   - room: What it shares with other sources; nil: nothing.
  ///   - timeout: Of real time, for a whole load; nil leaves that to a `timeout` policy and to the
  ///     client, which gives up on a server from which nothing comes.
  public init(
    _ address: HTTPAddress, client: RemoteClient, maximumBytes: Int = Self.maximumBytes,
    room: LoadingRoom? = nil, timeout: Duration? = nil
  ) {
    RemoteClient.beginThreads()
    fetch = HTTPFetch(
      address: address, client: client, maximumBytes: maximumBytes, room: room, timeout: timeout)
  }

  public func load(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    do {
      return try await loaded(report)
    } catch let failure as RemoteFailure {
      throw LoadingFailure(failure)
    }
  }

  // Offload than the caller's actor: megabytes are copied and parsed here.
  @concurrent
  private func loaded(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    let meter = Lock(ProgressMeter())
    let content = try await fetch.run { count, total in
      guard let news = meter.withLock({ $0.news(count: count, of: total) }) else { return }
      await report(news)
    }
    return try LoadedContent(contentType: content.type).value(of: content.bytes)
  }
}

extension LoadingFailure {
  init(_ failure: RemoteFailure) {
    self.init(code: failure.code, message: failure.message)
  }
}
