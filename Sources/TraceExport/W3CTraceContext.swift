// SPDX-License-Identifier: Apache-2.0

internal import Tracing

/// The identity of a span that other servers see.
///
/// - Source: W3C Trace Context §3.2.
struct W3CTraceContext: Hashable, Sendable {
  /// The number of the trace; not 0.
  var trace: UInt128
  /// The number of the span; not 0.
  var span: UInt64
  /// True if the spans of the trace are recorded.
  var isSampled: Bool

  /// Creates the context of the first span of a trace.
  init() { self.init(trace: .random(in: 1 ... .max), span: Self.newSpan, isSampled: true) }

  private init(trace: UInt128, span: UInt64, isSampled: Bool) {
    (self.trace, self.span, self.isSampled) = (trace, span, isSampled)
  }

  /// Parses a header field `traceparent`; nil if the trace cannot be continued.
  ///
  /// - Shape: `00-TRACE-SPAN-FLAGS` in lower-case hexadecimal digits: 32, 16 and 2. A later version than 00
  ///   may have more after a hyphen.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count >= 4,
      let version: UInt8 = Self.number(parts[0], digits: 2), version < 255,
      version > 0 || parts.count == 4,
      let trace: UInt128 = Self.number(parts[1], digits: 32), trace != 0,
      let span: UInt64 = Self.number(parts[2], digits: 16), span != 0,
      let flags: UInt8 = Self.number(parts[3], digits: 2)
    else { return nil }
    self.init(trace: trace, span: span, isSampled: flags & 1 == 1)
  }

  /// The context of a new span that this one has caused.
  var child: W3CTraceContext {
    W3CTraceContext(trace: trace, span: Self.newSpan, isSampled: isSampled)
  }

  /// The header field.
  var header: String { "00-\(traceText)-\(spanText)-\(isSampled ? "01" : "00")" }
  /// The number of the trace in 32 hexadecimal digits.
  var traceText: String { Self.text(trace) }
  /// The number of the span in 16 hexadecimal digits.
  var spanText: String { Self.text(span) }

  private static var newSpan: UInt64 { .random(in: 1 ... .max) }

  private static func number<Number: FixedWidthInteger>(
    _ digits: Substring.UTF8View, digits count: Int
  ) -> Number? {
    guard digits.count == count, digits.allSatisfy("0123456789abcdef".utf8.contains) else {
      return nil
    }
    return Number(Substring(digits), radix: 16)
  }

  private static func text(_ number: some FixedWidthInteger) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: type(of: number).bitWidth / 4 - digits.count) + digits
  }
}

/// The place of the context in the contexts of swift-distributed-tracing.
enum W3CTraceContextKey: InstrumentationContextKey {
  typealias Value = W3CTraceContext
}

/// The name of the header field.
let traceparentField = "traceparent"
