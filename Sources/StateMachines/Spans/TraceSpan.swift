// SPDX-License-Identifier: Apache-2.0

/// A span of a distributed trace: one piece of work from its beginning to its end.
///
/// The engine begins a span for each effect and each named part of an effect that an input with a span
/// causes, directly or through actions of other effects. The span of an input itself comes from the server.
/// Spans contain names that the authors of machines have chosen, never contents. Feeds have none, because
/// they may last as long as their store.
public protocol TraceSpan: AnyObject, Sendable {
  /// Begins the span of work that this span has caused.
  ///
  /// - Parameters:
  ///   - stage: The kind of the work.
  ///   - name: The name of the work.
  /// - Returns: The span; nil if this one has ended.
  func child(_ stage: SpanStage, _ name: String) -> (any TraceSpan)?

  /// Adds the name of the input to the name of the span.
  ///
  /// - Parameter input: The name of the input's case.
  func describe(input: String)

  /// Adds attributes.
  ///
  /// - Parameter attributes: The names of the attributes and their values.
  func add(_ attributes: [(name: String, value: String)])

  /// Ends the span. Later calls do nothing.
  ///
  /// - Parameter end: The way in which the work has ended.
  func end(_ end: OperationEnd)

  /// The header fields that continue the trace in a request to another server.
  var headers: [(name: String, value: String)] { get }

  /// Calls `body` with this span as `CurrentSpan.value`, also for the tasks that `body` creates.
  ///
  /// - Parameter body: Begins work of this span.
  func enclose(_ body: () -> Void)

  /// Calls `body` without a current span, also for the tasks that `body` creates.
  ///
  /// - Parameter body: Begins work that is not traced.
  func leave(_ body: () -> Void)
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

  /// Returns the name of a span for the name of an effect or operation.
  ///
  /// The names of effects of child machines begin with those of the children, and with the ids of elements,
  /// which may be secret. They are left out.
  static func name(of work: String) -> String {
    guard let slash = work.utf8.lastIndex(of: UInt8(ascii: "/")) else { return work }
    return String(work[work.index(after: slash)...])
  }
}
