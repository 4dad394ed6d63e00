// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import ProcessStores
internal import Sessions

/// The store kinds of a server whose machines are programs.
struct ProgramKinds: Sendable {
  private let kinds: [(name: String, programs: [StoreProgram], scope: StoreScope)]
  private let logger: Logger

  /// Starts the programs.
  ///
  /// - Parameters:
  ///   - configured: The kinds.
  ///   - logger: The log of the server, which also gets what the programs write to standard error.
  ///   - testing: Work that must end before a server under test is idle; nil if it is not under test.
  ///   - logsFailures: False if the programs are only described: `describe` throws the failure, and
  ///     nothing is restarted.
  init(
    _ configured: [ProgramKind], _ logger: Logger, _ testing: OutsideWork?,
    logsFailures: Bool = true
  ) {
    self.logger = logger
    kinds = configured.map { kind in
      let programs = (0..<max(1, kind.processes)).map { _ in
        StoreProgram(kind.name, kind.command, busy: testing?.begin) { entry in
          let metadata: Logger.Metadata = ["kind": "\(kind.name)"]
          switch entry {
          case .output(let line): logger.info("\(kind.name): \(line)", metadata: metadata)
          case .notice(let text):
            logger.notice("store kind \(kind.name): \(text)", metadata: metadata)
          case .failure(let text):
            guard logsFailures else { return }
            logger.error("store kind \(kind.name): \(text)", metadata: metadata)
          }
        }
      }
      return (kind.name, programs, kind.scope)
    }
  }

  /// Waits until each program has described itself, or until the server is to end. A program that cannot
  /// start does not prevent the start of the server: its stores get errors until it runs.
  ///
  /// - Parameter ending: Signalled when the server is to end; the programs then open no store.
  func start(until ending: Latch) async {
    let programs = kinds.flatMap(\.programs)
    ending.whenSignalled(stopOpening)
    for program in programs { await program.start() }
  }

  /// Waits until each kind has been described by its program.
  ///
  /// - Throws: `StartupError` with the reason if a program does not describe itself.
  func describe() async throws(StartupError) {
    for kind in kinds {
      guard let problem = await kind.programs[0].start() else { continue }
      throw StartupError("the store kind \"\(kind.name)\" cannot be described: \(problem)")
    }
  }

  /// Returns other kinds together with those of the programs, which replace kinds with the same name.
  func replacing(_ others: [StoreKind]) -> [StoreKind] {
    let names = Set(kinds.map(\.name))
    return others.filter { !names.contains($0.name) }
      + kinds.map { StoreKind($0.name, programs: $0.programs, scope: $0.scope) }
  }

  /// Replaces the programs of changed kinds by others with the same name, and starts those again that do not
  /// run. The number of processes and the scope stay.
  func reload(_ changed: [ProgramKind]) {
    for kind in kinds {
      let new = changed.first { $0.name == kind.name }
      for program in kind.programs {
        if let new { program.replace(with: new.command) } else { program.retry() }
      }
    }
  }

  /// Ends the openings of stores and the waiting for descriptions: the server ends.
  @Sendable
  func stopOpening() {
    for program in kinds.flatMap(\.programs) { program.stopOpening() }
  }

  /// Delivers nothing to stores any more, before the loops of the server end.
  func stopReplying() async {
    for program in kinds.flatMap(\.programs) { await program.stopReplying() }
  }

  /// Ends the programs.
  func close() async {
    for program in kinds.flatMap(\.programs) { await program.close() }
  }
}
