// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import NIOCore
internal import StatewireJSON
internal import Synchronization

/// Sends the spans of a queue to a collector, in requests of some hundred.
///
/// A request that the collector cannot take now is sent again, with growing pauses, while later spans wait
/// in the queue. Those that do not fit in it are dropped: the server never waits for its collector.
public final class SpanExporter: Sendable {
  private static let spansPerRequest = 512
  private static let pause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(5)
  private static let requestTime = TimeAmount.seconds(10)
  private static let timeToEnd = TimeAmount.seconds(2)
  private static let maximumResponseBytes = 64 << 10

  private let queue: SpanQueue
  private let url: String
  /// The server of the collector, for messages.
  private let origin: String
  private let resource: [(name: String, value: String)]
  private let failed: @Sendable (SpanExportError) -> Void
  private let client: HTTPClient
  /// The number of dropped spans that was reported.
  private let reported = Mutex(0)

  /// Creates an exporter, which has to be ended by `end`.
  ///
  /// - Parameters:
  ///   - queue: The spans that have ended.
  ///   - url: The URL of the collector for spans, for example `http://localhost:4318/v1/traces`.
  ///   - origin: The server in the URL, for messages.
  ///   - resource: The attributes of the program, by the names of OpenTelemetry.
  ///   - failed: Called with each failed request, and each loss of spans.
  public init(
    _ queue: SpanQueue, to url: String, on origin: String,
    resource: [(name: String, value: String)],
    failed: @escaping @Sendable (SpanExportError) -> Void
  ) {
    self.queue = queue
    self.url = url
    self.origin = origin
    self.resource = resource
    self.failed = failed
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    configuration.timeout.connect = Self.requestTime
    // The pauses between attempts are those of this exporter.
    configuration.connectionPool.retryConnectionEstablishment = false
    // Its requests are not a part of any trace.
    configuration.tracing.tracer = nil
    client = HTTPClient(configuration: configuration)
  }

  /// Exports spans until the task is cancelled.
  public func run() async {
    while !Task.isCancelled {
      let spans = queue.take(atMost: Self.spansPerRequest)
      if !spans.isEmpty { await send(spans) }
      reportDropped()
      if spans.count < Self.spansPerRequest { try? await Task.sleep(for: Self.pause) }
    }
  }

  /// Sends the spans that are left, for at most 2 seconds, after `run` and all spans have ended. It then reports
  /// the number of dropped spans, unless it was reported before.
  public func end() async {
    let deadline = NIODeadline.now() + Self.timeToEnd
    while case let spans = queue.take(atMost: Self.spansPerRequest), !spans.isEmpty {
      guard case .accepted = await post(spans, until: deadline) else {
        queue.drop(spans.count + queue.take(atMost: .max).count)
        break
      }
    }
    reportDropped()
    // Fails only if it was shut down before.
    try? await client.shutdown()
  }

  /// Reports the number of dropped spans if it has changed.
  private func reportDropped() {
    let dropped = queue.dropped
    let hasChanged = reported.withLock { reported in
      defer { reported = dropped }
      return dropped > reported
    }
    if hasChanged { failed(.dropped(dropped)) }
  }

  private func send(_ spans: [SpanRecord]) async {
    var pause = Self.pause
    while true {
      switch await post(spans, until: .now() + Self.requestTime) {
      case .accepted: return
      case .refused(let error, let canRetry):
        failed(error)
        guard canRetry, !Task.isCancelled else { return queue.drop(spans.count) }
        try? await Task.sleep(for: pause)
        pause = min(pause * 2, Self.longestPause)
      }
    }
  }

  private enum Outcome {
    case accepted
    case refused(SpanExportError, canRetry: Bool)
  }

  private func post(_ spans: [SpanRecord], until deadline: NIODeadline) async -> Outcome {
    do {
      let request = try HTTPClient.Request(
        url: url, method: .POST,
        headers: ["Content-Type": "application/json", "User-Agent": "statewire"],
        body: .bytes(SpanRequest(resource: resource, spans: spans).text))
      let task = client.execute(
        request: request,
        delegate: ResponseAccumulator(
          request: request, maxBodySize: Self.maximumResponseBytes), deadline: deadline)
      // A cancelled task also sends requests: the last ones, and one that was refused before. The collector
      // has as long for each as for the last ones.
      let response = try await withTaskCancellationHandler {
        try await task.futureResult.get()
      } onCancel: {
        client.eventLoopGroup.next().scheduleTask(in: Self.timeToEnd) { task.cancel() }
      }
      let status = response.status.code
      guard 200..<300 ~= status else {
        return .refused(.status(status, origin), canRetry: [429, 502, 503, 504].contains(status))
      }
      noteRejected(response.body.map { Array($0.readableBytesView) } ?? [], of: spans.count)
      return .accepted
    } catch {
      return .refused(.unreachable("\(error)", origin), canRetry: true)
    }
  }

  /// Counts the spans that a collector has not taken of a request that it has accepted.
  private func noteRejected(_ body: [UInt8], of sent: Int) {
    let part = (try? JSONValue(parsing: body))?["partialSuccess"]?["rejectedSpans"]
    // Protocol buffers write integers of 64 bits as texts.
    let count = part?.string.flatMap { Int($0) } ?? part.flatMap { Int("\($0)") } ?? 0
    if count > 0 { queue.drop(min(count, sent)) }
  }
}

/// The reason why spans were not exported.
public enum SpanExportError: Error, CustomStringConvertible {
  /// The collector has responded with an HTTP status.
  case status(UInt, String)
  /// There was no response.
  case unreachable(String, String)
  /// Spans were dropped; their number since the start.
  case dropped(Int)

  /// The incident in one sentence. It names the server of the collector without path and query,
  /// which may contain a key.
  public var description: String {
    switch self {
    case .status(let status, let origin): "the trace collector \(origin) responded with \(status)"
    case .unreachable(let reason, let origin):
      "the trace collector \(origin) did not respond (\(reason))"
    case .dropped(let count):
      "\(count) spans were dropped since the start, because the collector has not accepted them"
    }
  }
}
