// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinStores
import EmbeddedStorage
import Foundation
import PostgresConnections
import PostgresSessionJournal
import PostgresStorage
import SQLiteLedger
import StatewireServer

/// The command `statewire ledger`: posts amounts to the ledger in the database and shows its
/// balance.
struct LedgerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ledger",
    abstract: "Posts amounts to the ledger of the balance store, and shows the balance.",
    subcommands: [Post.self, Balance.self]
  )

  /// The command `statewire ledger post`.
  struct Post: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "post",
      abstract: "Adds an amount to the ledger, with the current time.",
      usage: "statewire ledger post <amount> [--data-dir <folder>] [--database <url>]",
      discussion:
        "A running server uses the new balance at the next refresh of a balance store.")

    // An amount may begin with a minus sign, so that it looks like an option.
    @Argument(
      parsing: .allUnrecognized,
      help: ArgumentHelp(
        "US dollars, for example 12.50; a negative amount subtracts.", valueName: "amount"))
    var words: [String] = []

    @OptionGroup var place: Place

    func run() async throws {
      let amount = try amount()
      try await place.withLedger { ledger in try await ledger.post(amount: amount) }
    }

    private func amount() throws -> DecimalNumber {
      // The parser does not remove the separator "--", which ends the options.
      let words = words.first == "--" ? words.dropFirst() : words[...]
      guard let word = words.first, words.count == 1 else {
        throw Fault("Pass one amount, for example 12.50 or -5.25.")
      }
      guard let amount = DecimalNumber(word) else {
        throw Fault("\(word) is not an amount; pass one like 12.50 or -5.25.")
      }
      return amount
    }
  }

  /// The command `statewire ledger balance`.
  struct Balance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "balance",
      abstract:
        "Shows the sum of all amounts and the time of the last one (without any: the current time)."
    )

    @OptionGroup var place: Place

    func run() async throws {
      try await place.withLedger { ledger in
        let response = try await ledger.readBalance()
        Output.show("\(response.balance) \(response.date)")
      }
    }
  }

  /// The place of the ledger.
  struct Place: ParsableArguments {
    @Option(
      help: ArgumentHelp("Folder of the database. (default: as for serve)", valueName: "folder"))
    var dataDir: String?

    @Option(
      help: "PostgreSQL database of the servers, as for serve. (environment: STATEWIRE_DATABASE)")
    var database: String?

    @Option(help: "Read the URL of the database from the first line of this file.")
    var databaseFile: String?

    /// Calls `body` with the ledger, and closes its storage.
    func withLedger(_ body: (any PostedLedger) async throws -> Void) async throws {
      let given = database ?? databaseFile.map { "file:\($0)" }
      if given != nil, dataDir != nil {
        throw Fault(
          "--database and --data-dir cannot be used together: the ledger is in one place.")
      }
      let variable = ProcessInfo.processInfo.environment["STATEWIRE_DATABASE"]
      let address = try PostgresAddress.configured(
        option: given, environment: dataDir == nil ? variable : nil)
      let result: Result<Void, any Error>
      if let address {
        // Creates the tables, if no server has done so.
        try NodeTable(address).close()
        let storage = PostgresStorage(address, name: "ledger") { Output.writeError($0) }
        do { result = .success(try await body(storage.ledger)) } catch { result = .failure(error) }
        storage.close()
      } else {
        let database = EmbeddedDatabase(
          folder: try dataDir ?? DataFolder.standard(of: Statewire.name)
        ) { Output.writeError($0) }
        do { result = .success(try await body(database.ledger)) } catch { result = .failure(error) }
        await database.close()
      }
      try result.get()
    }
  }

  /// A mistake in the arguments, described in one sentence.
  private struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}

/// A ledger in a file or in PostgreSQL.
protocol PostedLedger: Sendable {
  func post(amount: DecimalNumber) async throws
  func readBalance() async throws -> BalanceResponse
}

extension Ledger: PostedLedger {}
extension PostgresLedger: PostedLedger {}
