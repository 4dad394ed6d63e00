// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// Begins the spans of inputs, for distributed traces.
///
/// The server traces the inputs that it samples, and those that belong to a trace of their client.
public protocol InputTracer: Sendable {
  /// Returns true if an input that belongs to no trace is to begin one. It is called once for each message.
  func samples() -> Bool

  /// Begins the span of an input.
  ///
  /// - Parameter traceparent: The span of the client, as in the header field `traceparent`; nil if the input
  ///   begins a trace. As W3C Trace Context requires, a text that has another form begins a trace, too.
  func begin(continuing traceparent: String?) -> any TraceSpan
}
