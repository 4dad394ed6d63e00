// SPDX-License-Identifier: Apache-2.0

internal import Logging
public import RemoteSources
internal import TraceExport
public import Tracing

/// The distributed traces of inputs: their spans, and those of their effects, operations and commits.
public struct TracingConfiguration: Sendable {
  /// The receivers of spans.
  public enum Destination: Sendable {
    /// The tracer of an embedding program, for example `InstrumentationSystem.tracer`.
    case tracer(any Tracer)
    /// A collector of OpenTelemetry: the address for spans in OTLP/HTTP with JSON, for example
    /// `http://localhost:4318/v1/traces`.
    case collector(HTTPAddress)
  }

  /// The receiver of the spans.
  public var destination: Destination
  /// The share of the inputs without a trace that begin one, from 0 to 1. Inputs with a `traceparent` belong
  /// to the trace of their client, which decides for them: a client can have all its inputs traced.
  public var ratio = 1.0

  /// Creates a configuration that traces all inputs.
  ///
  /// - Parameter destination: The receiver of the spans.
  public init(_ destination: Destination) { self.destination = destination }
}

/// The parts of a server that trace its inputs.
struct TraceParts: Sendable {
  let tracer: SampledTracer
  /// Sends the spans to a collector; nil if an embedding program receives them.
  let exporter: SpanExporter?
  /// The log of dropped spans.
  private let losses: RepeatedFailures

  /// Creates the parts; nil if inputs are not traced.
  init?(_ configuration: ServerConfiguration) {
    guard let tracing = configuration.tracing else { return nil }
    // Two, so that an outage does not hide the loss that it leads to.
    let (failures, losses) = (
      RepeatedFailures(configuration.logger), RepeatedFailures(configuration.logger)
    )
    self.losses = losses
    switch tracing.destination {
    case .tracer(let tracer):
      self.tracer = SampledTracer(tracer, ratio: tracing.ratio)
      exporter = nil
    case .collector(let endpoint):
      var resource = [("service.name", configuration.name)]
      if let version = configuration.version { resource.append(("service.version", version)) }
      if let node = configuration.cluster?.name { resource.append(("service.instance.id", node)) }
      let queue = SpanQueue()
      tracer = SampledTracer(OTLPTracer(queue), ratio: tracing.ratio)
      exporter = SpanExporter(
        queue, to: endpoint.url, on: endpoint.origin, resource: resource
      ) { error in
        if case .dropped = error { losses.log(error) } else { failures.log(error) }
      }
    }
  }

  /// Sends the last spans, and logs the final number of dropped ones.
  func end() async {
    await exporter?.end()
    losses.end()
  }
}
