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
    writer.raw("],\"events\":[")
    for (index, event) in span.events.enumerated() {
      writer.raw(index > 0 ? ",{\"timeUnixNano\":" : "{\"timeUnixNano\":")
      writer.value("\(event.nanosecondsSinceEpoch)")
      writer.raw(",\"name\":")
      writer.value(event.name)
      writer.raw(",\"attributes\":[")
      write(event.attributes.sorted, to: &writer)
      writer.raw("]}")
    }
    writer.raw("],\"links\":[")
    for (index, link) in span.links.enumerated() {
      writer.raw(index > 0 ? ",{\"traceId\":" : "{\"traceId\":")
      writer.value(link.traceText)
      writer.raw(",\"spanId\":")
      writer.value(link.spanText)
      writer.raw("}")
    }
    writer.raw("],\"status\":{")
    if let status = span.status {
      writer.raw("\"code\":")
      writer.value(status.code == .ok ? 1 : 2)
      if let message = status.message {
        writer.raw(",\"message\":")
        writer.value(message)
      }
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

  private static func write(_ value: SpanAttribute, to writer: inout JSONWriter) {
    switch value {
    case .int32(let number): write(number, to: &writer)
    case .int64(let number): write(number, to: &writer)
    case .double(let number) where number.isFinite:
      writer.raw("{\"doubleValue\":")
      writer.value(number)
    case .double(let number):
      writer.raw("{\"stringValue\":")
      writer.value("\(number)")
    case .bool(let flag): writer.raw(flag ? "{\"boolValue\":true" : "{\"boolValue\":false")
    case .int32Array(let numbers): return write(numbers.map(SpanAttribute.int32), to: &writer)
    case .int64Array(let numbers): return write(numbers.map(SpanAttribute.int64), to: &writer)
    case .doubleArray(let numbers): return write(numbers.map(SpanAttribute.double), to: &writer)
    case .boolArray(let flags): return write(flags.map(SpanAttribute.bool), to: &writer)
    case .stringArray(let texts): return write(texts.map(SpanAttribute.string), to: &writer)
    case .stringConvertibleArray(let values):
      return write(values.map { SpanAttribute.string($0.description) }, to: &writer)
    case .string(let text):
      writer.raw("{\"stringValue\":")
      writer.value(text)
    case .stringConvertible(let value):
      writer.raw("{\"stringValue\":")
      writer.value(value.description)
    default: writer.raw("{")
    }
    writer.raw("}")
  }

  private static func write(_ number: some BinaryInteger, to writer: inout JSONWriter) {
    writer.raw("{\"intValue\":")
    writer.value("\(number)")
  }

  private static func write(_ values: [SpanAttribute], to writer: inout JSONWriter) {
    writer.raw("{\"arrayValue\":{\"values\":[")
    for (index, value) in values.enumerated() {
      if index > 0 { writer.raw(",") }
      write(value, to: &writer)
    }
    writer.raw("]}}")
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
