// SPDX-License-Identifier: Apache-2.0

/// One record of a store's trace: what hooks receive, by name only.
///
/// It contains the names of inputs, actions and operations, never their contents, so that a trace
/// cannot contain a secret.
public struct TraceRecord: Equatable, Sendable {
  /// The one of the five hook functions that the record corresponds to.
  public enum Moment: String, Sendable {
    /// The operation begins.
    case receiveSubscription
    /// The request of the operation is known.
    case receiveRequest
    /// The operation gave an output.
    case receiveOutput
    /// The operation has finished or failed.
    case receiveCompletion
    /// The operation was cancelled.
    case receiveCancel
  }

  /// The operation.
  public var operation: Operation
  /// The hook function that the record corresponds to.
  public var moment: Moment
  /// The name of the input's case, as `type` on the wire; set for requests of inputs.
  public var input: String?
  /// The name of the action's case; set for outputs.
  public var action: String?
  /// True for a completion or an action that reports a failure.
  public var failed = false
  /// The revision of the store at that time.
  public var revision: Revision
}

/// An input or an action that is not an enum of its machine, such as that of a program.
package protocol NamedInTraces {
  /// The name in traces; nil for that of the case or type.
  var traceName: String? { get }
}

/// Returns the name of a value in traces: the one that it gives itself, or that of its enum case, never
/// its payload; the name of its type if the value is not an enum.
package func caseName(of value: Any) -> String {
  if let name = (value as? any NamedInTraces)?.traceName { return name }
  let mirror = Mirror(reflecting: value)
  guard mirror.displayStyle == .enum, !(value is any CustomReflectable) else {
    return "\(type(of: value))"
  }
  if let label = mirror.children.first?.label { return label }
  // A case without payload prints as its name, unless its type has its own description, which could
  // contain a secret.
  let describesItself =
    value is any CustomStringConvertible || value is any CustomDebugStringConvertible
    || value is any TextOutputStreamable
  return describesItself ? "\(type(of: value))" : "\(value)"
}
