// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Sends an input to a store.
///
/// Answered once the input is accepted and its immediate actions are folded; the frame that they
/// cause comes before the answer. With `settle`, answered once all its effects have ended.
public enum StoreSend {
  public static let method: StaticString = "store/send"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Sends an input to a store.", params: Params.self, result: Result.self,
      errors: RPCErrorCode.ofStoreMethods + [.outOfOrder, .requestCancelled])
  }

  /// `settle` says whether to answer once all its effects have ended; absent: no. `sequence` is which
  /// of its frontend's inputs it is.
  ///
  /// - Shape: `{"store": String, "input": any, "settle"?: Bool, "sequence"?: Int}`
  public enum Params: JSONDescribed {
    public static func schema(in schemas: JSONSchemas) -> JSONSchema {
      .object([
        .member("store", .string()),
        .member(
          "input", JSONSchema.anything.described("An input of the store's kind: see x-stores.")),
        .optional("settle", .boolean),
        .optional("sequence", .integer(minimum: 1, maximum: 1 << 53 - 1)),
      ])
    }
  }

  /// - Shape: `{"revision": Int, "changed": Bool}`
  public struct Result: Codable, Sendable {
    /// The revision at the time of the answer.
    public var revision: Int
    /// Whether the revision is another than right before the input: with `settle`, what others have
    /// changed until the answer counts too.
    public var changed: Bool

    public init(revision: Int, changed: Bool) {
      self.revision = revision
      self.changed = changed
    }
  }
}
