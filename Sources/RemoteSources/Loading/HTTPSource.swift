// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores

/// A source that loads the content of a URL of the operator.
///
/// - Value: the JSON of the response if its `Content-Type` is a JSON type, otherwise its UTF-8 text
///   as a string.
/// - Progress: 0 to 100 by `Content-Length`, each number once; without one, once without a
///   percentage.
/// - Failure: a status other than 200, more bytes than allowed, or a redirect to another server.
/// - Cancellation: closes the connection immediately; nothing more is read.
public struct HTTPSource: LoadingSource {
  /// The default limit of a source's size: 16 MiB.
  public static let maximumBytes = 16 << 20

  private let fetch: HTTPFetch

  /// Creates a source.
  ///
  /// - Parameters:
  ///   - address: The URL to request.
  ///   - client: The HTTP client.
  ///   - maximumBytes: The largest size of a response, in bytes.
  ///   - quota: The limit of bytes that it shares with other sources; nil for none.
  ///   - timeout: Real time for a whole load; nil leaves the limit to a `timeout` policy and to the
  ///     client, which ends a request when no bytes arrive.
  public init(
    _ address: HTTPAddress, client: RemoteClient, maximumBytes: Int = Self.maximumBytes,
    quota: LoadingQuota? = nil, timeout: Duration? = nil
  ) {
    RemoteClient.startThreads()
    fetch = HTTPFetch(
      address: address, client: client, maximumBytes: maximumBytes, quota: quota, timeout: timeout)
  }

  /// Loads the content.
  ///
  /// - Parameter report: Called with each new progress.
  /// - Throws: `LoadingFailure`, or `CancellationError`.
  public func load(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    do {
      return try await loaded(report)
    } catch let failure as RemoteFailure {
      throw LoadingFailure(failure)
    }
  }

  // Not on the caller's actor, since megabytes are copied and parsed here.
  @concurrent
  private func loaded(
    _ report: @escaping @Sendable (LoadingProgress) async -> Void
  ) async throws -> LoadedValue {
    let meter = Lock(ProgressMeter())
    let content = try await fetch.run { count, total in
      guard let change = meter.withLock({ $0.change(count: count, of: total) }) else { return }
      await report(change)
    }
    return try LoadedContent(contentType: content.type).value(of: content.bytes)
  }
}

extension LoadingFailure {
  /// Converts a failure, with its code and message.
  init(_ failure: RemoteFailure) {
    self.init(code: failure.code, message: failure.message)
  }
}
