// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import Tracing

/// A span that is exported when it ends.
public final class OTLPSpan: Span {
  /// The context for work that the span causes.
  public let context: InstrumentationContext
  let identity: W3CTraceContext
  private let record: Mutex<SpanRecord?>
  private let ended: @Sendable (SpanRecord) -> Void

  /// Creates a span.
  ///
  /// - Parameters:
  ///   - record: The span at its start; nil if it is not recorded.
  ///   - ended: Called once with the record, when the span ends.
  init(
    _ identity: W3CTraceContext, _ context: InstrumentationContext, _ record: SpanRecord?,
    ended: @escaping @Sendable (SpanRecord) -> Void
  ) {
    self.identity = identity
    self.context = context
    self.record = Mutex(record)
    self.ended = ended
  }

  /// The name of the work.
  public var operationName: String {
    get { record.withLock { $0?.name ?? "" } }
    set { record.withLock { $0?.name = newValue } }
  }

  /// The attributes of the work.
  public var attributes: SpanAttributes {
    get { record.withLock { $0?.attributes ?? [:] } }
    set { record.withLock { $0?.attributes = newValue } }
  }

  /// True until the span ends, if it is exported.
  public var isRecording: Bool { record.withLock { $0 != nil } }

  /// Sets whether the work has failed.
  public func setStatus(_ status: SpanStatus) { record.withLock { $0?.status = status } }

  /// Adds an event.
  public func addEvent(_ event: SpanEvent) { record.withLock { $0?.events.append(event) } }

  /// Adds an event with the type of an error, and none of its contents, which may be secret.
  public func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {
    var attributes = attributes
    attributes["exception.type"] = "\(type(of: error))"
    addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
  }

  /// Adds a link to another span, if that one is of this tracer.
  public func addLink(_ link: SpanLink) {
    guard let linked = link.context[W3CTraceContextKey.self] else { return }
    record.withLock { $0?.links.append(linked) }
  }

  /// Ends the span; later calls do nothing.
  public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
    let finished = record.withLock { record in
      defer { record = nil }
      return record
    }
    guard var finished else { return }
    finished.end = instant().nanosecondsSinceEpoch
    ended(finished)
  }
}

/// The contents of a span.
struct SpanRecord: Sendable {
  let identity: W3CTraceContext
  /// The number of the span that has caused this one; nil for the first span of a trace.
  let parent: W3CTraceContext?
  var name: String
  let kind: SpanKind
  /// Units: nanoseconds since 1970.
  let start: UInt64
  /// Units: nanoseconds since 1970; 0 until the end.
  var end: UInt64 = 0
  var attributes: SpanAttributes = [:]
  var events: [SpanEvent] = []
  var links: [W3CTraceContext] = []
  var status: SpanStatus?
}
