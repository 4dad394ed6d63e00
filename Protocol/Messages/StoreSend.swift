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

  /// - Shape: `{"store": String, "input": any, "settle"?: Bool, "sequence"?: Int}`
  public struct Params: Codable, Sendable {
    public var store: String
    /// An input of the store's kind.
    public var input: JSONValue
    /// Whether to answer once all its effects have ended; absent: no.
    public var settle: Bool?
    /// Which of its frontend's inputs it is, 1 to 2^53 - 1.
    public var sequence: Int?
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

extension StoreSend.Params: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema {
    .object([
      .member("store", .string()), .member("input", .anything), .optional("settle", .boolean),
      .optional("sequence", .integer(minimum: 1, maximum: 1 << 53 - 1)),
    ])
  }
}
