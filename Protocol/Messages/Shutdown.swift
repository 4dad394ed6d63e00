// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Announces `Exit`, as in the Language Server Protocol: the server refuses every later request and
/// ignores every later notification except `Exit`. Earlier requests continue.
///
/// - Source: Language Server Protocol 3.17, "Shutdown Request".
public enum Shutdown {
  /// The name of the method.
  public static let method: StaticString = "shutdown"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Announces exit: the server refuses all later requests.",
      result: NullResult.self)
  }
}

/// Ends the connection, as the end of the client's input does: the server still responds to earlier
/// requests.
///
/// A server that uses only standard input and output ends too, with the exit code 0 after
/// `Shutdown` and 1 without.
///
/// - Source: Language Server Protocol 3.17, "Exit Notification".
public enum Exit {
  /// The name of the method.
  public static let method: StaticString = "exit"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends the connection; sent as a notification.", result: NullResult.self)
  }
}

/// A null result, as in other protocols.
public enum NullResult: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .null }
}
