// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Sends an input to a store.
///
/// The server responds once it has accepted the input and applied its immediate actions; the update
/// that they cause precedes the response. With `settle`, it responds once all effects of the input
/// have ended.
public enum StoreSend {
  /// The name of the method.
  public static let method: StaticString = "store/send"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Sends an input to a store.", params: Params.self, result: Result.self,
      errors: RPCErrorCode.ofOpeningMethods + [.outOfOrder])
  }

  /// The parameters of `store/send`. With `settle`, the server responds once all effects of the
  /// input have ended; false if absent. `sequence` is the number of the input among those of its
  /// client. `traceparent` is the trace of the client that the input belongs to, as in the header
  /// field of W3C Trace Context; a server without tracing ignores it.
  ///
  /// - Shape: `{"store": String, "input": any, "settle"?: Bool, "sequence"?: Int, "traceparent"?: String}`
  public enum Params: JSONDescribed {
    /// Returns the JSON Schema of the type.
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("store", .string()),
        .member(
          "input", JSONSchema.anything.described("An input of the store's kind: see x-stores.")),
        .optional("settle", .boolean),
        .optional("sequence", .integer(minimum: 1, maximum: 1 << 53 - 1)),
        .optional(
          "traceparent",
          .string().described(
            "The span of the client, as in the header field traceparent of W3C Trace Context.")),
      ])
    }
  }

  /// The result of `store/send`.
  ///
  /// - Shape: `{"revision": Int, "changed": Bool}`
  public struct Result: Codable, Sendable {
    /// The revision at the time of the response.
    public var revision: Int
    /// True if the revision differs from the one before the input. With `settle`, changes by other
    /// clients until the response count too.
    public var changed: Bool

    /// Creates a result.
    public init(revision: Int, changed: Bool) {
      self.revision = revision
      self.changed = changed
    }
  }
}
