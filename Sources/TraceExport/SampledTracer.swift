// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import ServerCore
public import StateMachines
internal import Synchronization
public import Tracing

/// The spans of a server, by any tracer of swift-distributed-tracing.
public final class SampledTracer: InputTracer {
  private let tracer: any Tracer
  private let ratio: Double

  /// Creates a source of spans.
  ///
  /// - Parameters:
  ///   - tracer: The tracer.
  ///   - ratio: The share of the inputs that begin a trace, from 0 to 1. The tracer decides about inputs that
  ///     belong to the trace of a client.
  public init(_ tracer: any Tracer, ratio: Double) {
    self.tracer = tracer
    self.ratio = min(max(ratio, 0), 1)
  }

  /// Returns the number of inputs up to the next one that is sampled.
  ///
  /// Drawn at random, as if each input were sampled by itself, so that inputs pay for a random number only
  /// if they are sampled.
  public func distanceToSample() -> Int {
    if ratio >= 1 { return 1 }
    if ratio <= 0 { return .max }
    let inputs = log(Double.random(in: 0x1p-53...1)) / log(1 - ratio)
    return max(1, Int(exactly: inputs.rounded(.up)) ?? .max)
  }

  /// Begins the span of an input.
  ///
  /// - Parameters:
  ///   - kind: The name of the store's kind.
  ///   - traceparent: The span of the client; nil if there is none.
  ///   - isSampled: True if the input is to begin a trace if it continues none.
  /// - Returns: The span; nil if the input is not traced.
  public func begin(
    _ kind: String, continuing traceparent: String?, isSampled: Bool
  ) -> (any TraceSpan)? {
    var context = InstrumentationContext.topLevel
    if let traceparent { tracer.extract(traceparent, into: &context, using: FieldExtractor()) }
    guard isSampled || !context.isEmpty else { return nil }
    return TracedWork(.input, kind, tracer, context, .server)
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
private final class TracedWork: TraceSpan {
  private let tracer: any Tracer
  private let span: any Span
  private let hasEnded = Atomic(false)

  init(
    _ stage: SpanStage, _ name: String, _ tracer: any Tracer, _ context: InstrumentationContext,
    _ kind: SpanKind
  ) {
    self.tracer = tracer
    span = tracer.startAnySpan(Self.bounded(name), context: context, ofKind: kind)
    span.attributes["statewire.stage"] = stage.rawValue
  }

  func child(_ stage: SpanStage, _ name: String) -> (any TraceSpan)? {
    if hasEnded.load(ordering: .relaxed) { return nil }
    return TracedWork(stage, name, tracer, span.context, .internal)
  }

  func describe(input: String) { span.operationName += " \(Self.bounded(input))" }

  func add(_ attributes: [(name: String, value: String)]) {
    for (name, value) in attributes { span.attributes[name] = Self.bounded(value) }
  }

  func end(_ end: OperationEnd) {
    if hasEnded.exchange(true, ordering: .relaxed) { return }
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

  func leave(_ body: () -> Void) {
    InstrumentationContext.withValue(nil) {
      CurrentSpan.$value.withValue(nil, operation: body)
    }
  }

  /// Cuts a text that is too long for a span: clients choose the names of stores.
  private static func bounded(_ text: String) -> String {
    text.utf8.count <= maximumBytes ? text : String(text.prefix(maximumBytes / 4)) + "…"
  }

  private static var maximumBytes: Int { 256 }

  private struct FieldInjector: Injector {
    func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
      carrier[key] = value
    }
  }
}
