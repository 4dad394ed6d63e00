// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Logging

/// The option of commands that describe the store kinds of a server, for the kinds that are programs.
struct StoreProgramOptions: ParsableArguments {
  @Option(
    name: .customLong("store"),
    help: ArgumentHelp(
      "Start the program of a store kind and include its description; repeatable.",
      valueName: "name=command"))
  var stores: [String] = []

  /// Creates the option without a value.
  init() {}

  /// True if the option is given.
  var isGiven: Bool { !stores.isEmpty }

  /// Checks the option, without starting programs.
  func validate() throws { _ = try programs() }

  private func programs() throws -> [ProgramKind] {
    var options = ServeOptions()
    options.stores = stores
    return try options.programKinds()
  }

  /// Returns the description of a server with some kinds and those of the programs, which run until
  /// they have described themselves.
  ///
  /// - Throws: `StartupError` if a program does not describe itself, or a kind cannot be served.
  func description(with kinds: ServerKinds) async throws -> ServerDescription {
    let kinds = try kinds.described()
    guard isGiven else { return ServerDescription(kinds: kinds) }
    let programs = ProgramKinds(
      try programs(), Logger(label: "statewire"), nil, logsFailures: false)
    do {
      try await programs.describe()
    } catch {
      await programs.close()
      throw error
    }
    let description = ServerDescription(kinds: programs.replacing(kinds))
    await programs.close()
    return description
  }
}
