// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
public import RemoteSources

/// Sends the spans of a queue to a collector, in requests of some hundred, until its task is cancelled.
///
/// A request that the collector cannot take now is sent again, with growing pauses. Spans that wait longer
/// than the queue has room are dropped: the server never waits for its collector.
public struct SpanExporter: Sendable {
  private static let spansPerRequest = 512
  private static let pause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(30)
  private static let requestTime = TimeAmount.seconds(10)
  private static let lastRequestTime = TimeAmount.seconds(2)
  private static let attempts = 5

  private let queue: SpanQueue
  private let endpoint: HTTPAddress
  private let resource: [(name: String, value: String)]
  private let failed: @Sendable (SpanExportError) -> Void

  /// Creates an exporter.
  ///
  /// - Parameters:
  ///   - queue: The spans that have ended.
  ///   - endpoint: The address of the collector for spans, for example `http://localhost:4318/v1/traces`.
  ///   - resource: The attributes of the program, by the names of OpenTelemetry.
  ///   - failed: Called with each failed request, and each loss of spans.
  public init(
    _ queue: SpanQueue, to endpoint: HTTPAddress, resource: [(name: String, value: String)],
    failed: @escaping @Sendable (SpanExportError) -> Void
  ) {
    self.queue = queue
    self.endpoint = endpoint
    self.resource = resource
    self.failed = failed
  }

  /// Exports spans until the task is cancelled, and then those that are left, once.
  public func run() async {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    configuration.timeout.connect = Self.requestTime
    // The pauses between attempts are those of this exporter.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Its requests are not a part of any trace.
    configuration.tracing.tracer = nil
    let client = HTTPClient(configuration: configuration)
    while !Task.isCancelled {
      let spans = queue.take(atMost: Self.spansPerRequest)
      if !spans.isEmpty { await send(spans, by: client) }
      let dropped = queue.takeDropped()
      if dropped > 0 { failed(.dropped(dropped)) }
      if spans.count < Self.spansPerRequest { try? await Task.sleep(for: Self.pause) }
    }
    await finish(by: client)
    // Fails only if it was shut down before.
    try? await client.shutdown()
  }

  /// Sends what is left.
  private func finish(by client: HTTPClient) async {
    while case let spans = queue.take(atMost: Self.spansPerRequest), !spans.isEmpty {
      guard case .accepted = await post(spans, by: client, within: Self.lastRequestTime) else {
        return failed(.dropped(spans.count))
      }
    }
  }

  private func send(_ spans: [SpanRecord], by client: HTTPClient) async {
    var pause = Self.pause
    for attempt in 1...Self.attempts {
      switch await post(spans, by: client, within: Self.requestTime) {
      case .accepted: return
      case .refused(let error, let canRetry):
        failed(error)
        // The last attempt is that of `finish`.
        guard canRetry, attempt < Self.attempts, !Task.isCancelled else {
          return queue.drop(spans.count)
        }
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }

  private enum Outcome {
    case accepted
    case refused(SpanExportError, canRetry: Bool)
  }

  private func post(
    _ spans: [SpanRecord], by client: HTTPClient, within time: TimeAmount
  ) async -> Outcome {
    do {
      let request = try HTTPClient.Request(
        url: endpoint.url, method: .POST,
        headers: ["Content-Type": "application/json", "User-Agent": "statewire"],
        body: .bytes(SpanRequest(resource: resource, spans: spans).text))
      // As a future, because the last request is sent by a cancelled task.
      let status = try await client.execute(request: request, deadline: .now() + time).get()
        .status.code
      if 200..<300 ~= status { return .accepted }
      return .refused(
        .status(status, endpoint.origin), canRetry: [429, 502, 503, 504].contains(status))
    } catch {
      return .refused(.unreachable("\(error)", endpoint.origin), canRetry: true)
    }
  }
}

/// The reason why spans were not exported.
public enum SpanExportError: Error, CustomStringConvertible {
  /// The collector has responded with an HTTP status.
  case status(UInt, String)
  /// There was no response.
  case unreachable(String, String)
  /// Spans were dropped; their number.
  case dropped(Int)

  /// One sentence with the server of the collector, and without path and query, which may contain a key.
  public var description: String {
    switch self {
    case .status(let status, let origin): "the trace collector \(origin) responded with \(status)"
    case .unreachable(let reason, let origin):
      "the trace collector \(origin) did not respond (\(reason))"
    case .dropped(let count):
      "\(count) spans were dropped, because the collector has not accepted them"
    }
  }
}
