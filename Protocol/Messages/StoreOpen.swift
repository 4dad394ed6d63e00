// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Opens a store of some kind under a name.
///
/// The same name, kind and configuration again is no error; another kind or configuration is
/// -32018. A name that was closed opens anew and continues its revisions.
public enum StoreOpen {
  public static let method: StaticString = "store/open"

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
