// SPDX-License-Identifier: Apache-2.0

internal import BuiltinKinds
public import Documents
internal import EmbeddedStorage
public import Logging
public import Sessions
internal import StatewireJSON
internal import Transports

/// The store kinds of a server.
///
/// ```swift
/// [StoreKind("stopwatch") { Stopwatch() }]              // only this kind
/// .builtin + [StoreKind("stopwatch") { Stopwatch() }]   // in addition to the built-in kinds
/// ```
///
/// A kind replaces the built-in one with the same name. A server does not start if two other kinds
/// have the same name, or if a kind cannot create a store with its initial state.
public struct ServerKinds: Sendable, ExpressibleByArrayLiteral {
  private enum Part: Sendable {
    case builtin
    case own(@Sendable (KindContext) throws -> [StoreKind])
  }

  private var parts: [Part]

  /// The kinds `todo`, `addTodo`, `form`, `balance` and `loading`; with them, `serve` has their
  /// options.
  public static let builtin = ServerKinds(parts: [.builtin])

  private init(parts: [Part]) { self.parts = parts }

  /// Creates kinds that are independent of their server.
  public init(arrayLiteral kinds: StoreKind...) { self.init { _ in kinds } }

  /// Creates kinds that depend on their server.
  ///
  /// - Parameter kinds: Returns the kinds. It is called once for a server and once for a
  ///   description. It must not open files or databases; a kind opens them when a store is opened.
  ///   The server creates one machine of each kind at its start, in order to check it.
  public init(_ kinds: @escaping @Sendable (KindContext) throws -> [StoreKind]) {
    self.init(parts: [.own(kinds)])
  }

  /// Returns the kinds of both.
  public static func + (left: ServerKinds, right: ServerKinds) -> ServerKinds {
    ServerKinds(parts: left.parts + right.parts)
  }

  /// True if the built-in kinds are among them.
  var hasBuiltin: Bool {
    parts.contains { part in
      if case .builtin = part { true } else { false }
    }
  }

  /// True if there are kinds of the program.
  var hasOwn: Bool {
    parts.contains { part in
      if case .own = part { true } else { false }
    }
  }

  /// Returns the kinds of a server, with unique names, after checking those of the program.
  ///
  /// - Throws: `StartupError` that names the kind, or an error of the program's own function.
  func all(_ context: KindContext, builtin: () -> [StoreKind]) throws -> [StoreKind] {
    var own: [StoreKind] = []
    for case .own(let make) in parts { own += try make(context) }
    var names: Set<String> = []
    for kind in own {
      guard names.insert(kind.name).inserted else {
        throw StartupError("two store kinds have the name \"\(kind.name)\"; rename one of them")
      }
      try Self.check(kind)
    }
    return (hasBuiltin ? builtin().filter { !names.contains($0.name) } : []) + own
  }

  private static func check(_ kind: StoreKind) throws(StartupError) {
    let maximumBytes = SessionLimits().storeNameBytes
    guard (1...maximumBytes).contains(kind.name.utf8.count) else {
      throw StartupError(
        "the store kind \"\(kind.name)\" needs a name of 1 to \(maximumBytes) bytes")
    }
    do throws(JSONError) {
      try kind.checkInitialState()
    } catch {
      throw StartupError("the store kind \"\(kind.name)\" cannot be served: \(error)", cause: error)
    }
  }

  /// Returns the faults of the types of its own kinds, which `schema` prints too.
  func schemaWarnings() throws -> [String] {
    let own = ServerKinds(
      parts: parts.filter { part in
        if case .own = part { true } else { false }
      })
    return own.parts.isEmpty ? [] : ServerDescription(kinds: try own.described()).warnings
  }

  /// Returns the kinds for a description or a check, which opens no store.
  func described(folder: String = "") throws -> [StoreKind] {
    let context = KindContext(logger: Logger(label: "schema"), isTest: false) { folder }
    return try all(context) {
      let database = EmbeddedDatabase(folder: folder) { _ in }
      return StoreKind.builtin(lists: database.todoLists, balance: database.ledger)
    }
  }
}

/// The server that a kind belongs to.
public struct KindContext: Sendable {
  /// The log of the server.
  public let logger: Logger
  /// True if clients control a virtual clock and inject faults.
  public let isTest: Bool
  private let folder: @Sendable () throws -> String
  private let storage: @Sendable () -> any DocumentStorage

  init(
    logger: Logger, isTest: Bool,
    documents: @escaping @Sendable () -> any DocumentStorage = { MemoryDocumentStorage() },
    folder: @escaping @Sendable () throws -> String
  ) {
    (self.logger, self.isTest, self.folder, storage) = (logger, isTest, folder, documents)
  }

  /// The storage of tables and documents, which all kinds of the server share.
  ///
  /// With a data folder (`--data-dir`) it is the file `documents.sqlite` in that folder. With a
  /// database (`--database`) it is in the database, which all nodes share. Without either, it is in
  /// memory and ends with the server.
  public var documents: any DocumentStorage { storage() }

  /// Returns the path of the data folder, which may not exist yet.
  ///
  /// - Throws: `StartupError` if no folder was configured and the user has no state folder.
  public func dataFolder() throws -> String { try folder() }
}
