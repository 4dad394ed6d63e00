// SPDX-License-Identifier: Apache-2.0

public import Logging
public import Sessions
internal import StatewireJSON

/// Logs what the operations of all stores do: that they begin at `trace`, that they end at `debug`,
/// that they fail at `warning`; inputs at `trace`.
///
/// Nothing is observed unless the logger's level is `info` or lower. Each line names the store, the
/// operation and the cases of inputs and actions, and nothing that is in them: they may be passwords,
/// and money.
public struct LoggingObserver: StoreObserver {
  private let logger: Logger

  /// - Parameter logger: Its level when a store is opened decides what is observed at all.
  public init(_ logger: Logger) { self.logger = logger }

  public func hook<Machine: StateMachine>(
    for machine: Machine, store: String
  ) -> Hook<Machine>? {
    // A hook has a queue and a task for each store, which nobody should pay for who does not look.
    guard logger.logLevel <= .info else { return nil }
    var hook = failures(of: Machine.self, store)
    guard logger.logLevel <= .debug else { return hook }
    hook.failuresOnly = false
    if logger.logLevel == .trace {
      hook.stages.insert(.input)
      hook.receiveRequest = { [logger] operation, input in
        var metadata = Self.metadata(operation, store)
        if let input { metadata["input"] = "\(caseName(of: input))" }
        logger.trace("began", metadata: metadata)
      }
    }
    hook.receiveCompletion = { [logger, failed = hook.receiveCompletion] operation, end in
      try await failed?(operation, end)
      let level: Logger.Level = operation.stage == .input ? .trace : .debug
      logger.log(level: level, "\(end.rawValue)", metadata: Self.metadata(operation, store))
    }
    hook.receiveCancel = { [logger] operation in
      let level: Logger.Level = operation.stage == .input ? .trace : .debug
      logger.log(level: level, "cancelled", metadata: Self.metadata(operation, store))
    }
    return hook
  }

  private func failures<Machine: StateMachine>(
    of machine: Machine.Type, _ store: String
  ) -> Hook<Machine> {
    Hook(
      stages: [.operation, .part], failuresOnly: true,
      receiveOutput: { [logger] operation, output in
        guard case .action(let action, isFailure: true) = output else { return }
        var metadata = Self.metadata(operation, store)
        metadata["action"] = "\(caseName(of: action))"
        logger.warning("an operation failed", metadata: metadata)
      },
      receiveCompletion: { [logger] operation, end in
        // A part has no action to say it with.
        guard operation.stage == .part, end == .failed else { return }
        logger.warning("an operation failed", metadata: Self.metadata(operation, store))
      })
  }

  private static func metadata(_ operation: Operation, _ store: String) -> Logger.Metadata {
    [
      // A client has chosen the name: no line of the log is to end in it.
      "store": "\(store.printable)", "stage": "\(operation.stage.rawValue)",
      "operation": "\(operation.name)", "number": "\(operation.number)",
    ]
  }
}
