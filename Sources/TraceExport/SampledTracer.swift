// SPDX-License-Identifier: Apache-2.0

public import ServerCore
public import StateMachines
public import Tracing

/// The spans of a server, by any tracer of swift-distributed-tracing.
public struct SampledTracer: InputTracer {
  private let tracer: any Tracer
  /// An input begins a trace if a random number is less.
  private let threshold: UInt64

  /// Creates a source of spans.
  ///
  /// - Parameters:
  ///   - tracer: The tracer.
  ///   - ratio: The share of the inputs without a trace that begin one, from 0 to 1. The tracer decides about
  ///     inputs that belong to the trace of a client.
  public init(_ tracer: any Tracer, ratio: Double) {
    self.tracer = tracer
    threshold = UInt64(min(max(ratio, 0), 1) * 0x1p53)
  }

  /// Returns true for a share of the calls.
  public func samples() -> Bool {
    switch threshold {
    case 0: false
    case 1 << 53: true
    default: UInt64.random(in: 0..<1 << 53) < threshold
    }
  }

  /// Begins the span of an input.
  public func begin(continuing traceparent: String?) -> any TraceSpan {
    var context = InstrumentationContext.topLevel
    if let traceparent { tracer.extract(traceparent, into: &context, using: FieldExtractor()) }
    return TracedWork(.input, "input", tracer, context, .server)
  }

  private struct FieldExtractor: Extractor {
    func extract(key: String, from carrier: String) -> String? {
      key == traceparentField ? carrier : nil
    }
  }
}

/// A span of the engine or of the server, as a span of swift-distributed-tracing.
///
/// Code in an effect that begins spans of its own with that library continues the trace.
private struct TracedWork: TraceSpan {
  private let tracer: any Tracer
  private let span: any Span

  init(
    _ stage: SpanStage, _ name: String, _ tracer: any Tracer, _ context: InstrumentationContext,
    _ kind: SpanKind
  ) {
    self.tracer = tracer
    span = tracer.startAnySpan(name, context: context, ofKind: kind)
    span.attributes["statewire.stage"] = stage.rawValue
  }

  func child(_ stage: SpanStage, _ name: String) -> any TraceSpan {
    TracedWork(stage, name, tracer, span.context, .internal)
  }

  func describe(_ name: String?, _ attributes: [(name: String, value: String)]) {
    if let name { span.operationName = name }
    for (name, value) in attributes { span.attributes[name] = value }
  }

  func end(_ end: OperationEnd) {
    switch end {
    case .finished: break
    case .failed: span.setStatus(SpanStatus(code: .error))
    case .cancelled: span.attributes["statewire.cancelled"] = true
    }
    span.end()
  }

  var headers: [(name: String, value: String)] {
    var fields: [String: String] = [:]
    tracer.inject(span.context, into: &fields, using: FieldInjector())
    return fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  func enclose(_ body: () -> Void) {
    InstrumentationContext.withValue(span.context) {
      CurrentSpan.$value.withValue(self, operation: body)
    }
  }

  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
      carrier[key] = value
    }
  }
}
