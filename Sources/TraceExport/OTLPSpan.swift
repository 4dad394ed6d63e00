// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
public import Tracing

/// A span that is exported when it ends. It has no events and no links, which the server does not use.
public final class OTLPSpan: Span {
  /// The context for work that the span causes.
  public let context: InstrumentationContext
  private let record: Mutex<SpanRecord?>
  private let ended: @Sendable (SpanRecord) -> Void

  /// Creates a span.
  ///
  /// - Parameters:
  ///   - context: The context for work that the span causes.
  ///   - record: The span at its start; nil if it is not recorded.
  ///   - ended: Called once with the record, when the span ends.
  init(
    _ context: InstrumentationContext, _ record: SpanRecord?,
    ended: @escaping @Sendable (SpanRecord) -> Void
  ) {
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
  public func setStatus(_ status: SpanStatus) { record.withLock { $0?.status = status.code } }

  /// Does nothing.
  public func addEvent(_ event: SpanEvent) {}

  /// Does nothing.
  public func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {}

  /// Does nothing.
  public func addLink(_ link: SpanLink) {}

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
  /// The span that has caused this one; nil for the first span of a trace.
  let parent: W3CTraceContext?
  var name: String
  let kind: SpanKind
  /// Units: nanoseconds since 1970.
  let start: UInt64
  /// Units: nanoseconds since 1970; 0 until the end.
  var end: UInt64 = 0
  var attributes: SpanAttributes = [:]
  /// Nil unless the work has set it.
  var status: SpanStatus.Code?
}
