// SPDX-License-Identifier: Apache-2.0

internal import BuiltinKinds
internal import EmbeddedStorage
public import Logging
public import Sessions

/// The store kinds of a server.
///
/// ```swift
/// [StoreKind("stopwatch") { Stopwatch() }]              // only this kind
/// .builtin + [StoreKind("stopwatch") { Stopwatch() }]   // in addition to the built-in kinds
/// ```
///
/// A kind replaces an earlier one with the same name.
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
  public init(_ kinds: @escaping @Sendable (KindContext) throws -> [StoreKind]) {
    self.init(parts: [.own(kinds)])
  }

  /// Returns the kinds of both; a kind on the right replaces one with the same name on the left.
  public static func + (left: ServerKinds, right: ServerKinds) -> ServerKinds {
    ServerKinds(parts: left.parts + right.parts)
  }

  /// True if the built-in kinds are among them.
  var hasBuiltin: Bool {
    parts.contains { part in
      if case .builtin = part { true } else { false }
    }
  }

  /// Returns the kinds of a server, without duplicate names.
  func all(_ context: KindContext, builtin: () -> [StoreKind]) throws -> [StoreKind] {
    var kinds: [StoreKind] = []
    for part in parts {
      let more =
        switch part {
        case .builtin: builtin()
        case .own(let make): try make(context)
        }
      kinds.removeAll { kind in more.contains { $0.name == kind.name } }
      kinds += more
    }
    return kinds
  }

  /// Returns the kinds for a description, which opens no store.
  func described() throws -> [StoreKind] {
    let context = KindContext(logger: Logger(label: "schema"), isTest: false) { "" }
    return try all(context) {
      let database = EmbeddedDatabase(folder: "") { _ in }
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

  init(logger: Logger, isTest: Bool, folder: @escaping @Sendable () throws -> String) {
    (self.logger, self.isTest, self.folder) = (logger, isTest, folder)
  }

  /// Returns the path of the data folder, which may not exist yet.
  ///
  /// - Throws: `StartupError` if no folder was configured and the user has no state folder.
  public func dataFolder() throws -> String { try folder() }
}
