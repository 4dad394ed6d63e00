// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Opens a store of a kind under a name.
///
/// Opening a store again with the same name, kind and configuration is not an error; another kind
/// or configuration is the error -32018. A name that was closed can be opened again and continues
/// its revisions.
public enum StoreOpen {
  /// The name of the method.
  public static let method: StaticString = "store/open"

  /// The description for `rpc.discover`.
  public static var description: MethodDescription {
    MethodDescription(
      method, "Opens a store of a kind under a name.", params: Params.self, result: Result.self,
      errors: RPCErrorCode.ofSessionMethods + [.observer, .otherConfiguration, .forbidden])
  }

  /// The parameters of `store/open`.
  ///
  /// - Shape: `{"store": String, "kind": String, "config"?: Object}`
  public struct Params: Codable, Sendable {
    /// The name of the store.
    public var store: String
    /// The store kind.
    public var kind: String
    /// The configuration that the kind requires; `{}` if absent.
    public var config: JSONValue?
  }

  /// The result of `store/open`.
  ///
  /// - Shape: `{"revision": Int}`
  public struct Result: Codable, Sendable {
    /// The current revision of the store.
    public var revision: Int
    /// Creates a result.
    public init(revision: Int) { self.revision = revision }
  }
}

// Reads itself, because it is the first request of most clients, and a program that starts the
// server waits for the response. The run time looks up the conformances for `Codable` at their
// first use, which is slow.
extension StoreOpen.Params: JSONReadable {
  /// Reads the value from JSON; the type documents its shape.
  ///
  /// - Throws: `JSONError` with the path of the fault.
  public init(reading reader: inout JSONReader) throws(JSONError) {
    var store: JSONReader?
    var kind: JSONReader?
    var config: JSONReader?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "store": store = reader
      case "kind": kind = reader
      case "config": config = reader
      default: break
      }
      _ = try reader.skipValue()
    }
    guard var store else { throw reader.missing("store") }
    guard var kind else { throw reader.missing("kind") }
    self.store = try store.readString()
    self.kind = try kind.readString()
    if var config, try !config.readNullIfPresent() { self.config = try config.readValue() }
  }
}
