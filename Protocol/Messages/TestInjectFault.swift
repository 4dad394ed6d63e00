// SPDX-License-Identifier: Apache-2.0

/// Injects a fault into the next calls of an operation; only on a server that was started for
/// tests.
public enum TestInjectFault {
  /// The name of the method.
  public static let method: StaticString = "test/injectFault"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Injects a fault into the next calls of an operation.", params: Params.self,
      errors: RPCErrorCode.ofOpeningMethods + [.methodNotFound], isForTests: true)
  }

  /// The parameters of `test/injectFault`.
  ///
  /// - Shape: `{"store": String, "operation": String, "fault": Fault, "times"?: Int}`
  public struct Params: Codable, Sendable {
    /// The name of the store.
    public var store: String
    /// The operation's name, as `session/traced` contains it.
    public var operation: String
    /// The fault.
    public var fault: Fault
    /// The number of calls; 1 if absent.
    public var times: Int?
  }

  /// A fault of an operation.
  ///
  /// - Shape: `{"type": "fail"}`, `{"type": "delay", "seconds": Number}`, `{"type": "hang"}` or
  ///   `{"type": "dropConnection"}`
  public enum Fault: Codable, Sendable {
    /// The operation fails and does not run.
    case fail
    /// The operation starts later.
    case delay(seconds: Seconds)
    /// The operation never ends unless it is cancelled.
    case hang
    /// The server closes the connection that injected the fault, without another frame, when the
    /// operation starts.
    case dropConnection
  }
}
