// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Returns the OpenRPC document of this server: its methods, notifications, errors and store kinds.
///
/// - Source: OpenRPC 1.3.2, Service Discovery Method.
public enum Discover {
  /// The name of the method.
  public static let method: StaticString = "rpc.discover"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Returns this document.", result: Document.self)
  }

  /// The result of `rpc.discover`.
  ///
  /// - Shape: an OpenRPC document.
  public enum Document: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("openrpc", .string()), .member("info", .object([])),
        .member("methods", .array(of: .object([]))),
      ])
    }
  }
}
