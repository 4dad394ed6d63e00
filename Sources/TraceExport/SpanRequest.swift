// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import Tracing

/// The body of a request with spans for a collector.
///
/// - Shape: `ExportTraceServiceRequest` as JSON.
/// - Source: OpenTelemetry Protocol 1.5, "JSON Protobuf Encoding": numbers of traces and spans in
///   hexadecimal digits, times as decimal text.
struct SpanRequest {
  /// The attributes of the program that has recorded the spans.
  var resource: [(name: String, value: String)]
  var spans: [SpanRecord]

  /// The body.
  var text: [UInt8] {
    var writer = JSONWriter()
    writer.raw("{\"resourceSpans\":[{\"resource\":{\"attributes\":[")
    Self.write(resource.map { ($0.name, .string($0.value)) }, to: &writer)
    writer.raw("]},\"scopeSpans\":[{\"scope\":{\"name\":\"statewire\"},\"spans\":[")
    for (index, span) in spans.enumerated() {
      if index > 0 { writer.raw(",") }
      Self.write(span, to: &writer)
    }
    writer.raw("]}]}]}")
    return writer.bytes()
  }

  private static func write(_ span: SpanRecord, to writer: inout JSONWriter) {
    writer.raw("{\"traceId\":")
    writer.value(span.identity.traceText)
    writer.raw(",\"spanId\":")
    writer.value(span.identity.spanText)
    if let parent = span.parent {
      writer.raw(",\"parentSpanId\":")
      writer.value(parent.spanText)
    }
    writer.raw(",\"name\":")
    writer.value(span.name)
    writer.raw(",\"kind\":")
    writer.value(number(of: span.kind))
    writer.raw(",\"startTimeUnixNano\":")
    writer.value("\(span.start)")
    writer.raw(",\"endTimeUnixNano\":")
    writer.value("\(max(span.start, span.end))")
    writer.raw(",\"attributes\":[")
    write(span.attributes.sorted, to: &writer)
    writer.raw("],\"status\":{")
    if let status = span.status {
      writer.raw("\"code\":")
      writer.value(status == .ok ? 1 : 2)
    }
    writer.raw("}}")
  }

  private static func number(of kind: SpanKind) -> Int {
    switch kind {
    case .internal: 1
    case .server: 2
    case .client: 3
    case .producer: 4
    case .consumer: 5
    }
  }

  private static func write(
    _ attributes: [(name: String, value: SpanAttribute)], to writer: inout JSONWriter
  ) {
    for (index, attribute) in attributes.enumerated() {
      writer.raw(index > 0 ? ",{\"key\":" : "{\"key\":")
      writer.value(attribute.name)
      writer.raw(",\"value\":")
      write(attribute.value, to: &writer)
      writer.raw("}")
    }
  }

  // The server has texts and Booleans only.
  private static func write(_ value: SpanAttribute, to writer: inout JSONWriter) {
    if case .bool(let flag) = value {
      writer.raw(flag ? "{\"boolValue\":true}" : "{\"boolValue\":false}")
    } else {
      writer.raw("{\"stringValue\":")
      if case .string(let text) = value { writer.value(text) } else { writer.value("\(value)") }
      writer.raw("}")
    }
  }
}

extension SpanAttributes {
  /// The attributes in the order of their names.
  fileprivate var sorted: [(name: String, value: SpanAttribute)] {
    var all: [(name: String, value: SpanAttribute)] = []
    forEach { all.append(($0, $1)) }
    return all.sorted { $0.name < $1.name }
  }
}
