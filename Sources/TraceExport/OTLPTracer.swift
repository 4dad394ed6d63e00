// SPDX-License-Identifier: Apache-2.0

public import Tracing

/// A tracer whose spans a `SpanExporter` sends to a collector.
public struct OTLPTracer: Tracer {
  private let queue: SpanQueue

  /// Creates a tracer.
  ///
  /// - Parameter queue: The queue for spans that have ended.
  public init(_ queue: SpanQueue) { self.queue = queue }

  /// Begins a span; as a part of the trace of `context`, if it has one, and else of a new trace.
  ///
  /// - Parameters:
  ///   - operationName: The name of the work.
  ///   - context: The context of the work that has caused it.
  ///   - kind: The kind of the work.
  ///   - instant: The time at which it has begun.
  ///   - function: Not used.
  ///   - fileID: Not used.
  ///   - line: Not used.
  /// - Returns: The span. It is not recorded if the trace is not sampled.
  public func startSpan<Instant: TracerInstant>(
    _ operationName: String, context: @autoclosure () -> InstrumentationContext,
    ofKind kind: SpanKind, at instant: @autoclosure () -> Instant, function: String,
    file fileID: String, line: UInt
  ) -> OTLPSpan {
    var context = context()
    let parent = context[W3CTraceContextKey.self]
    let identity = parent?.child ?? W3CTraceContext()
    context[W3CTraceContextKey.self] = identity
    let record =
      identity.isSampled
      ? SpanRecord(
        identity: identity, parent: parent, name: operationName, kind: kind,
        start: instant().nanosecondsSinceEpoch)
      : nil
    return OTLPSpan(context, record) { [queue] in queue.add($0) }
  }

  /// Does nothing: the exporter sends spans within a second.
  public func forceFlush() {}

  /// Reads the field `traceparent`, if it can be continued.
  public func extract<Carrier, Extract: Extractor>(
    _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
  ) where Extract.Carrier == Carrier {
    guard let text = extractor.extract(key: traceparentField, from: carrier),
      let parent = W3CTraceContext(text)
    else { return }
    context[W3CTraceContextKey.self] = parent
  }

  /// Writes the field `traceparent`.
  public func inject<Carrier, Inject: Injector>(
    _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
  ) where Inject.Carrier == Carrier {
    guard let identity = context[W3CTraceContextKey.self] else { return }
    injector.inject(identity.header, forKey: traceparentField, into: &carrier)
  }
}
