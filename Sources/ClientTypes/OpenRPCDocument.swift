// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The description of a server: an OpenRPC document with its store kinds.
///
/// - Source: OpenRPC 1.3.2; `x-stores` and `x-error-data`: PROTOCOL.md, `rpc.discover`.
struct OpenRPCDocument {
  /// A store kind and its schemas.
  struct Kind {
    let name: String
    let description: String?
    let state: JSONValue
    let input: JSONValue
    let event: JSONValue?
    let configuration: JSONValue
  }

  /// A method that clients call, or a notification that the server sends.
  struct Method {
    let name: String
    let params: JSONValue?
    let result: JSONValue?
  }

  /// An error and the schema of its data.
  struct ErrorCode {
    let name: String
    let code: Int
    let data: JSONValue?
  }

  let kinds: [Kind]
  let schemas: JSONObject
  let methods: [Method]
  let notifications: [Method]
  let errors: [ErrorCode]

  init(_ document: JSONValue) throws(ClientTypesError) {
    guard document["openrpc"]?.string != nil else {
      throw ClientTypesError(
        "it is not an OpenRPC document: \"openrpc\" is missing; pass the output of the command"
          + " schema")
    }
    guard case .object(let stores)? = document["x-stores"] else {
      throw ClientTypesError("the document describes no store kinds: \"x-stores\" is missing")
    }
    guard case .object(let schemas)? = document["components"]?["schemas"] else {
      throw ClientTypesError("the document has no schemas: \"components.schemas\" is missing")
    }
    self.schemas = schemas
    kinds = stores.map { name, store in
      Kind(
        name: name, description: store["description"]?.string, state: store["viewState"] ?? [:],
        input: store["input"] ?? [:], event: store["event"],
        configuration: store["config"] ?? ["type": "object"])
    }
    let described = document["methods"]?.array ?? []
    func methods(from sender: JSONValue) -> [Method] {
      described.filter { $0["x-sender"] == sender }.compactMap { method in
        method["name"]?.string.map {
          Method(name: $0, params: method["x-params"], result: method["result"]?["schema"])
        }
      }
    }
    self.methods = methods(from: "client")
    notifications = methods(from: "server")
    errors = (document["components"]?["errors"]?.object ?? [:]).compactMap { name, error in
      error["code"]?.int.map {
        ErrorCode(name: name, code: $0, data: document["x-error-data"]?[name])
      }
    }
  }

  /// Returns kinds in the order of the document.
  ///
  /// - Throws: `ClientTypesError` if a name is unknown.
  func kinds(named names: [String]?) throws(ClientTypesError) -> [Kind] {
    guard let names else { return kinds }
    for name in names where !kinds.contains(where: { $0.name == name }) {
      let known = kinds.map(\.name).joined(separator: ", ")
      throw ClientTypesError(
        "there is no kind \"\(name)\"; "
          + (known.isEmpty ? "the server has no kinds" : "the kinds are: \(known)"))
    }
    return kinds.filter { names.contains($0.name) }
  }

  /// Returns the schema that a reference names.
  ///
  /// - Throws: `ClientTypesError` if the document does not contain it.
  func schema(at target: String) throws(ClientTypesError) -> JSONValue {
    guard target.hasPrefix(Self.prefix),
      let schema = schemas[String(target.dropFirst(Self.prefix.count))]
    else {
      throw ClientTypesError("the document refers to \"\(target)\", which it does not contain")
    }
    return schema
  }

  /// The reference to a schema begins with this text.
  static let prefix = "#/components/schemas/"
}
