// SPDX-License-Identifier: Apache-2.0

public import Sessions
public import StatewireJSON
internal import StatewireProtocol

/// A description of a server for programs: its methods, notifications, errors and store kinds.
///
/// It is derived from the types that the server reads and writes, and from descriptions beside
/// those types. The same server has the same description each time, byte for byte.
public struct ServerDescription {
  private let schemas = JSONSchemas()
  private let parts: JSONObject
  private let title: String
  /// The members that kinds conceal, by kind.
  private let secrets: [String: Set<String>]
  /// The faults of the kinds' types that make their schemas say less than they should, each in one
  /// sentence.
  public let warnings: [String]

  /// Describes a server.
  ///
  /// - Parameters:
  ///   - kinds: The store kinds that frontends can open; the last of several with one name is used.
  ///   - title: The title of the document.
  public init(kinds: [StoreKind], title: String = "Statewire") {
    self.title = title
    var stores: JSONObject = [:]
    var warnings: [String] = []
    for kind in kinds {
      let description = kind.description(in: schemas)
      stores[kind.name] = Self.store(description)
      warnings += description.warnings.map { "kind \(kind.name): \($0)" }
    }
    self.warnings = warnings
    secrets = Dictionary(kinds.map { ($0.name, $0.secretMembers) }) { $1 }
    var data: JSONObject = [:]
    for error in RPCErrorCode.described {
      if let type = error.data { data[error.name] = schemas.written(type).value }
    }
    let schemas = schemas
    parts = [
      "methods": .array(MethodDescription.all.map { Self.method($0, schemas) }),
      "x-stores": .object(stores),
      "x-error-data": .object(data),
    ]
  }

  /// The OpenRPC document, built at each access.
  ///
  /// - Source: OpenRPC 1.3.2.
  public var openRPC: JSONValue {
    let (parts, definitions) = schemas.finished(
      .object(parts), prefix: "#/components/schemas/")
    let errors = RPCErrorCode.described.map { error -> (String, JSONValue) in
      (
        error.name,
        [
          "code": .number(JSONNumber(error.code.rawValue)), "message": .string(error.summary),
        ]
      )
    }
    var document: JSONObject = [
      "openrpc": "1.3.2",
      "info": [
        "title": .string(title), "version": .string(Initialize.supportedVersions[0]),
        "license": ["name": "Apache-2.0"],
      ],
      "methods": parts["methods"] ?? [],
      "components": [
        "schemas": .object(definitions), "errors": .object(JSONObject(errors)),
      ],
      "x-stores": parts["x-stores"] ?? [:],
      "x-error-data": parts["x-error-data"] ?? [:],
    ]
    document["x-stores"] = withSecrets(parts["x-stores"]?.object ?? [:], in: .object(document))
    return .object(document)
  }

  /// Adds the names of the members with secrets to each kind.
  private func withSecrets(_ stores: JSONObject, in document: JSONValue) -> JSONValue {
    .object(
      JSONObject(
        stores.map { kind, store in
          let schemas = SchemaMembers(of: store, in: document)
          let names = schemas.secrets.union(secrets[kind] ?? []).sorted()
          guard var members = store.object else { return (kind, store) }
          members["secrets"] = .array(names.map { .string($0) })
          return (kind, .object(members))
        }))
  }

  /// All named schemas, as the definitions of one JSON Schema (draft-07).
  public var jsonSchema: JSONValue {
    let (_, definitions) = schemas.finished(.object(parts), prefix: "#/definitions/")
    return [
      "$schema": "http://json-schema.org/draft-07/schema#",
      "title": .string(title),
      "definitions": .object(definitions),
    ]
  }
}

// MARK: - Parts

extension ServerDescription {
  private static func store(_ description: StoreKind.Description) -> JSONValue {
    var store: JSONObject = [
      "config": description.configuration.value,
      "input": description.input.value,
      "viewState": description.viewState.value,
    ]
    if let event = description.event { store["event"] = event.value }
    return .object(store)
  }

  private static func method(_ description: MethodDescription, _ schemas: JSONSchemas) -> JSONValue
  {
    var method: JSONObject = [
      "name": .string(description.name),
      "summary": .string(description.summary),
      "paramStructure": "by-name",
    ]
    let params = description.params.map { type in
      description.isNotification ? schemas.written(type) : schemas.read(type)
    }
    let members = params.map { schemas.members(of: $0) } ?? []
    // OpenRPC requires that required parameters come first.
    method["params"] = .array(
      (members.filter(\.isRequired) + members.filter { !$0.isRequired }).map { member in
        [
          "name": .string(member.name), "required": .bool(member.isRequired),
          "schema": member.schema.value,
        ]
      })
    if let result = description.result {
      method["result"] = ["name": "result", "schema": schemas.written(result).value]
      method["errors"] = .array(errors(of: description))
    }
    if let params { method["x-params"] = params.value }
    method["x-sender"] = description.isNotification ? "server" : "client"
    if description.isForTests { method["x-for-tests"] = true }
    return .object(method)
  }

  private static func errors(of description: MethodDescription) -> [JSONValue] {
    let codes = RPCErrorCode.ofAllMethods + description.errors
    return RPCErrorCode.described.filter { codes.contains($0.code) }.map { error in
      ["$ref": .string("#/components/errors/\(error.name)")]
    }
  }
}
