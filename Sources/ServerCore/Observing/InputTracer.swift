// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// Begins the spans of inputs, for distributed traces.
///
/// The server traces the inputs that it samples, and those that belong to a trace of their client. A
/// class, because a value of any type would be copied for each input.
public protocol InputTracer: AnyObject, Sendable {
  /// Returns the number of inputs of a connection up to the next one that is sampled; at least 1, and
  /// `Int.max` if none is.
  func distanceToSample() -> Int

  /// Begins the span of an input.
  ///
  /// - Parameters:
  ///   - kind: The name of the store's kind.
  ///   - traceparent: The span of the client, as in the header field `traceparent`; nil if there is none.
  ///   - isSampled: True if the input is to begin a trace if it continues none. As W3C Trace Context
  ///     requires, a text of another form is continued by none.
  /// - Returns: The span; nil if the input is not traced.
  func begin(
    _ kind: String, continuing traceparent: String?, isSampled: Bool
  ) -> (any TraceSpan)?
}
