// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinStores
import EmbeddedStorage
import SQLiteLedger
import StatewireServer

/// `statewire ledger`: what is in the database's ledger, and how something gets in.
struct LedgerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ledger",
    abstract: "Posts amounts to the ledger whose balance is served, and tells it.",
    subcommands: [Post.self, Balance.self]
  )

  struct Post: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "post",
      abstract: "Adds an amount to the ledger, dated now.",
      usage: "statewire ledger post <amount> [--data-dir <data-dir>]",
      discussion: "Frontends see it when they refresh, also those of a server that runs.")

    // What looks like an option and is none: an amount may begin with a minus.
    @Argument(
      parsing: .allUnrecognized,
      help: ArgumentHelp(
        "US dollars, like 12.50; -5.25 takes away.", valueName: "amount"))
    var words: [String] = []

    @OptionGroup var place: Place

    func run() async throws {
      let amount = try amount()
      try await place.withLedger { ledger in try await ledger.post(amount: amount) }
    }

    private func amount() throws -> DecimalNumber {
      // The parser leaves the sign for "no options from here on" where it was.
      let words = words.first == "--" ? words.dropFirst() : words[...]
      guard let word = words.first, words.count == 1 else {
        throw Fault("Post one amount, like 12.50 or -5.25.")
      }
      guard let amount = DecimalNumber(word) else {
        throw Fault("\(word) is no amount; write it like 12.50 or -5.25.")
      }
      return amount
    }
  }

  struct Balance: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "balance",
      abstract:
        "Tells the sum of all amounts, and when the last one was posted: now, where there is none.")

    @OptionGroup var place: Place

    func run() async throws {
      try await place.withLedger { ledger in
        let response = try await ledger.readBalance()
        Output.show("\(response.balance) \(response.date)")
      }
    }
  }

  /// Which database.
  struct Place: ParsableArguments {
    @Option(
      help: "The folder of the database; by default the user's state folder, as for serve.")
    var dataDir: String?

    /// Calls `body` with the ledger, and closes the database.
    func withLedger(_ body: (Ledger) async throws -> Void) async throws {
      let database = EmbeddedDatabase(
        folder: try dataDir ?? DataFolder.standard(of: Statewire.name)
      ) {
        Output.complain($0)
      }
      let result: Result<Void, any Error>
      do { result = .success(try await body(database.ledger)) } catch { result = .failure(error) }
      await database.close()
      try result.get()
    }
  }

  /// What is wrong with the arguments, in one sentence.
  private struct Fault: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}
