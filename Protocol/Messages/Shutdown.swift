// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Says that `Exit` follows, as in the Language Server Protocol: every request after it is refused, and
/// every notification but `Exit` ignored. What was asked for before goes on.
///
/// - Source: Language Server Protocol 3.17, "Shutdown Request".
public enum Shutdown {
  public static let method: StaticString = "shutdown"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Says that exit follows: from here on, requests are refused.",
      result: NullResult.self)
  }
}

/// Ends the connection, as the end of its input does: what was asked for before is still answered.
///
/// A server of standard input and output alone ends with it, with the exit code 0 after `Shutdown` and 1
/// without.
///
/// - Source: Language Server Protocol 3.17, "Exit Notification".
public enum Exit {
  public static let method: StaticString = "exit"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Ends the connection; sent as a notification.", result: NullResult.self)
  }
}

/// The result of what other protocols answer with null.
public enum NullResult: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .null }
}
