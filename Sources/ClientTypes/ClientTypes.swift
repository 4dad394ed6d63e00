// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

// From the description of a server to types for its clients.
//
//     OpenRPCDocument       the parts of the document that are used
//       -> TypeCollector    schemas to declarations: a name for each object, enumeration and union
//         -> TypeModel      declarations and store kinds, the same for all languages
//           -> a writer     one for each language, from the model to text
//
// The module is pure: it neither reads nor writes files.

/// The types of a server's store kinds, as source text for clients.
///
/// - Order: a document has the same text each time. Types have the order of the document.
/// - Names: a type of a kind is named after the kind and its place in the schema, such as
///   `KanbanStateColumnCard`, never after the type of the server. A type that occurs in several
///   places is named after the shortest path; of paths of one length, the first one counts.
public struct ClientTypes {
  /// A language of clients.
  public enum Language: String, CaseIterable, Sendable {
    case typescript
    case python
    case swift
    case kotlin
  }

  /// Names in the generated text that the document does not contain.
  public struct Options: Sendable {
    /// The module of the JavaScript client, whose list of kinds is extended.
    public var clientModule = "statewire"
    /// The package of a Kotlin file; nil for none.
    public var package: String?

    /// Creates the default options.
    public init() {}
  }

  let model: TypeModel

  /// Collects the types of store kinds.
  ///
  /// - Parameters:
  ///   - document: The OpenRPC document that `rpc.discover` returns.
  ///   - kinds: The names of the kinds; nil for all kinds of the document.
  /// - Throws: `ClientTypesError` for a document of another form, or an unknown kind.
  public init(of document: JSONValue, kinds: [String]? = nil) throws(ClientTypesError) {
    let document = try OpenRPCDocument(document)
    model = try TypeModel(of: document, kinds: try document.kinds(named: kinds))
  }

  /// Collects the types of the whole protocol, for a client library: of all methods, notifications,
  /// errors and kinds. The types have the names of the schemas.
  ///
  /// - Throws: `ClientTypesError` for a document of another form.
  public init(ofProtocol document: JSONValue) throws(ClientTypesError) {
    model = try TypeModel(ofProtocol: try OpenRPCDocument(document))
  }

  /// Returns the source text in a language.
  public func text(in language: Language, _ options: Options = Options()) -> String {
    switch language {
    case .typescript: TypeScriptWriter(model: model, clientModule: options.clientModule).text()
    case .python: PythonWriter(model: model).text()
    case .swift: SwiftWriter(model: model).text()
    case .kotlin: KotlinWriter(model: model, package: options.package).text()
    }
  }
}

/// A reason why no types can be generated from a document.
public struct ClientTypesError: Error, CustomStringConvertible, Equatable {
  /// The cause and the remedy, in one sentence.
  public let description: String

  init(_ description: String) { self.description = description }
}
