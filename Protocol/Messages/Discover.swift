// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Answers with the OpenRPC document of this server: its methods, notifications, errors, and the kinds
/// of stores that it has.
///
/// - Source: OpenRPC 1.3.2, Service Discovery Method.
public enum Discover {
  public static let method: StaticString = "rpc.discover"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Answers with this document.", result: Document.self)
  }

  /// - Shape: an OpenRPC document.
  public enum Document: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("openrpc", .string()), .member("info", .object([])),
        .member("methods", .array(of: .object([]))),
      ])
    }
  }
}
