// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Opens a store of some kind under a name.
///
/// The same name, kind and configuration again is no error; another kind or configuration is
/// -32018. A name that was closed opens anew and continues its revisions.
public enum StoreOpen {
  public static let method: StaticString = "store/open"

  public static var description: MethodDescription {
    MethodDescription(
      method, "Opens a store of some kind under a name.", params: Params.self, result: Result.self,
      errors: RPCErrorCode.ofSessionMethods + [.observer, .otherConfiguration])
  }

  /// - Shape: `{"store": String, "kind": String, "config"?: Object}`
  public struct Params: Codable, Sendable {
    public var store: String
    public var kind: String
    /// What the kind asks for; absent: `{}`.
    public var config: JSONValue?
  }

  /// - Shape: `{"revision": Int}`
  public struct Result: Codable, Sendable {
    public var revision: Int
    public init(revision: Int) { self.revision = revision }
  }
}

// Read directly: it is the first thing that most frontends send, and whoever spawns the service waits
// for the answer. What `Codable` needs at run time is looked up at its first use, which takes long.
extension StoreOpen.Params: JSONReadable {
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
