// SPDX-License-Identifier: Apache-2.0

/// Turns on or off `session/traced`, notifications about all that goes on in the session's stores.
public enum SessionTrace {
  public static let method: StaticString = "session/trace"

  /// - Shape: `{"on": Bool}`
  public struct Params: Codable, Sendable {
    public var on: Bool
  }
}

/// One thing that went on in a store of the session: names, and never what inputs, actions and
/// states carry.
///
/// - Shape: `{"seq": Int, "store": String, "stage": "input" | "action" | "state" | "operation" |
///   "part", "operation": String, "number": Int, "hook": String, "input": String | null,
///   "action": String | null, "failed": Bool, "revision": Int}`. `seq` counts from 1 for each time
///   that the trace is turned on; `number` tells operations of one store and stage apart.
public enum SessionTraced {
  public static let method: StaticString = "session/traced"
}
