// SPDX-License-Identifier: Apache-2.0

/// Turns on or off `session/traced`, notifications about all that goes on in the session's stores.
public enum SessionTrace {
  public static let method: StaticString = "session/trace"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Turns on or off notifications about all that goes on in the session's stores.",
      params: Params.self, errors: RPCErrorCode.ofSessionMethods)
  }

  /// - Shape: `{"on": Bool}`
  public struct Params: Codable, Sendable {
    public var on: Bool
  }
}

/// One thing that went on in a store of the session: names, and never what inputs, actions and
/// states carry.
public enum SessionTraced {
  public static let method: StaticString = "session/traced"

  public static var description: MethodDescription {
    MethodDescription(
      notification: method, "Tells one thing that went on in a store of the session.",
      params: Params.self)
  }

  /// - Shape: `{"seq": Int, "store": String, "stage": Stage, "operation": String, "number": Int,
  ///   "hook": Hook, "input": String | null, "action": String | null, "failed": Bool,
  ///   "revision": Int}`
  public struct Params: Codable, Sendable {
    /// Counts from 1 for each time that the trace is turned on.
    public var seq: Int
    public var store: String
    public var stage: Stage
    public var operation: String
    /// Tells operations of one store and stage apart.
    public var number: UInt64
    public var hook: Hook
    public var input: String?
    public var action: String?
    public var failed: Bool
    public var revision: Int
  }

  /// What is observed.
  public enum Stage: String, CaseIterable, Codable, Sendable {
    case input, action, state, operation, part
  }

  /// What is told of it.
  public enum Hook: String, CaseIterable, Codable, Sendable {
    case receiveSubscription, receiveRequest, receiveOutput, receiveCompletion, receiveCancel
  }
}
