// SPDX-License-Identifier: Apache-2.0

/// Lets the next calls of an operation meet a fault; only where the server was started for tests.
public enum TestInjectFault {
  public static let method: StaticString = "test/injectFault"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Lets the next calls of an operation meet a fault.", params: Params.self,
      errors: RPCErrorCode.ofStoreMethods + [.methodNotFound], isForTests: true)
  }

  /// - Shape: `{"store": String, "operation": String, "fault": Fault, "times"?: Int}`
  public struct Params: Codable, Sendable {
    public var store: String
    /// The operation's name, as traces show it.
    public var operation: String
    public var fault: Fault
    /// How many calls; absent: 1.
    public var times: Int?
  }

  /// - Shape: `{"type": "fail"}`, `{"type": "delay", "seconds": Number}`, `{"type": "hang"}` or
  ///   `{"type": "dropConnection"}`
  public enum Fault: Codable, Sendable {
    /// It fails and is not carried out.
    case fail
    /// It begins later.
    case delay(seconds: Seconds)
    /// It never ends by itself.
    case hang
    /// The connection that injects this is dropped without another frame as the operation begins.
    case dropConnection
  }
}
