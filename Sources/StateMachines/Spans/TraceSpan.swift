// SPDX-License-Identifier: Apache-2.0

/// A span of a distributed trace: one piece of work from its beginning to its end.
///
/// The engine begins a span for each effect and each named part of an effect that an input with a span
/// causes, directly or through actions of other effects. The span of an input itself comes from the server.
/// Spans contain names, never contents. Feeds have no spans, because they may last as long as their store.
public protocol TraceSpan: Sendable {
  /// Begins the span of work that this span has caused.
  ///
  /// - Parameters:
  ///   - stage: The kind of the work.
  ///   - name: The name of the work.
  func child(_ stage: SpanStage, _ name: String) -> any TraceSpan

  /// Sets the name of the work unless it is nil, and adds attributes.
  func describe(_ name: String?, _ attributes: [(name: String, value: String)])

  /// Ends the span. Later calls do nothing.
  func end(_ end: OperationEnd)

  /// The header fields that continue the trace in a request to another server.
  var headers: [(name: String, value: String)] { get }

  /// Calls `body` with this span as `CurrentSpan.value`, also for the tasks that `body` creates.
  func enclose(_ body: () -> Void)
}

/// The kinds of work that have spans.
public enum SpanStage: String, Sendable {
  /// An input, until all its effects have ended.
  case input
  /// An effect.
  case effect
  /// A named part of an effect.
  case operation
  /// The commit of an input to the journal.
  case commit
}

/// The span of the work that is being done.
public enum CurrentSpan {
  /// The span; nil if the work is not traced.
  @TaskLocal public static var value: (any TraceSpan)?
}
