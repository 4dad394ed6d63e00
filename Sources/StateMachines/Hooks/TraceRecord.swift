// SPDX-License-Identifier: Apache-2.0

/// One line of a store's trace: what hooks see, by name alone.
///
/// It carries the names of inputs, actions and operations and never what is in them, so that no
/// secret can be in a trace.
public struct TraceRecord: Equatable, Sendable {
  /// Which of the five hooks it stands for.
  public enum Moment: String, Sendable {
    case receiveSubscription
    case receiveRequest
    case receiveOutput
    case receiveCompletion
    case receiveCancel
  }

  public var operation: Operation
  public var moment: Moment
  /// The case of the input, as the wire's `type`; with requests of inputs.
  public var input: String?
  /// The case of the action; with outputs.
  public var action: String?
  /// Whether it failed; with completions and with actions that say so.
  public var failed = false
  /// The revision of the store then.
  public var revision: Revision
}

/// The name of a value's enum case, its type's name if it is none; never its payload.
package func caseName(of value: Any) -> String {
  let mirror = Mirror(reflecting: value)
  guard mirror.displayStyle == .enum, !(value is any CustomReflectable) else {
    return "\(type(of: value))"
  }
  if let label = mirror.children.first?.label { return label }
  // A case without payload prints as its name; one that describes itself otherwise is not asked.
  let describesItself =
    value is any CustomStringConvertible || value is any CustomDebugStringConvertible
    || value is any TextOutputStreamable
  return describesItself ? "\(type(of: value))" : "\(value)"
}
