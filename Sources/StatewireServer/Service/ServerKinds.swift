// SPDX-License-Identifier: Apache-2.0

internal import BuiltinKinds
internal import EmbeddedStorage
public import Logging
public import Sessions

/// The kinds of stores that a server has.
///
/// ```swift
/// [StoreKind("stopwatch") { Stopwatch() }]              // no other kinds
/// .builtin + [StoreKind("stopwatch") { Stopwatch() }]   // beside the built-in ones
/// ```
///
/// A kind takes the place of an earlier one with the same name.
public struct ServerKinds: Sendable, ExpressibleByArrayLiteral {
  private enum Part: Sendable {
    case builtin
    case own(@Sendable (KindContext) throws -> [StoreKind])
  }

  private var parts: [Part]

  /// The kinds `todo`, `addTodo`, `form`, `balance` and `loading`, with their options on the command line.
  public static let builtin = ServerKinds(parts: [.builtin])

  private init(parts: [Part]) { self.parts = parts }

  public init(arrayLiteral kinds: StoreKind...) { self.init { _ in kinds } }

  /// Kinds that need to know their server.
  ///
  /// - Parameter kinds: Makes the kinds, once for a server and once to describe it. Files and databases are to be
  ///   opened when a store is opened.
  public init(_ kinds: @escaping @Sendable (KindContext) throws -> [StoreKind]) {
    self.init(parts: [.own(kinds)])
  }

  public static func + (left: ServerKinds, right: ServerKinds) -> ServerKinds {
    ServerKinds(parts: left.parts + right.parts)
  }

  var hasBuiltin: Bool {
    parts.contains { part in
      if case .builtin = part { true } else { false }
    }
  }

  /// Makes the kinds of a server.
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

  /// Makes the kinds for a description, which opens none of them.
  func described() throws -> [StoreKind] {
    let context = KindContext(logger: Logger(label: "schema"), isTest: false) { "" }
    return try all(context) {
      let database = EmbeddedDatabase(folder: "") { _ in }
      return StoreKind.builtin(lists: database.todoLists, balance: database.ledger)
    }
  }
}

/// The server of a kind.
public struct KindContext: Sendable {
  /// The log of the server.
  public let logger: Logger
  /// True if clients move the clock and inject faults.
  public let isTest: Bool
  private let folder: @Sendable () throws -> String

  init(logger: Logger, isTest: Bool, folder: @escaping @Sendable () throws -> String) {
    (self.logger, self.isTest, self.folder) = (logger, isTest, folder)
  }

  /// Returns the path of the data folder, which may not exist yet.
  ///
  /// - Throws: `StartupError` if no folder was named and the user has none.
  public func dataFolder() throws -> String { try folder() }
}
