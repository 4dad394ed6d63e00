// SPDX-License-Identifier: Apache-2.0

public import Logging
public import Sessions
internal import StatewireJSON

/// An observer that logs the operations of all stores.
///
/// | event | level |
/// |---|---|
/// | an operation begins | `trace` |
/// | an operation ends or is cancelled | `debug` |
/// | an operation fails | `warning` |
/// | any of these for an input | `trace` |
///
/// It observes only if the logger's level is `info` or lower. Each line names the store, the
/// operation and the cases of inputs and actions, but none of their values: they may contain
/// passwords or amounts.
public struct LoggingObserver: StoreObserver {
  private let logger: Logger

  /// Creates an observer.
  ///
  /// - Parameter logger: The logger; its level at the opening of a store decides which events of
  ///   that store are observed.
  public init(_ logger: Logger) { self.logger = logger }

  /// Returns the hook that logs the operations of a store; nil if the level is above `info`.
  public func hook<Machine: StateMachine>(
    for machine: Machine, store: ObservedStore
  ) -> Hook<Machine>? {
    // A hook costs a queue and a task for each store, so there is none without log lines.
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
    of machine: Machine.Type, _ store: ObservedStore
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
        // The failure of a part produces no action, so it is logged here.
        guard operation.stage == .part, end == .failed else { return }
        logger.warning("an operation failed", metadata: Self.metadata(operation, store))
      })
  }

  private static func metadata(_ operation: Operation, _ store: ObservedStore) -> Logger.Metadata {
    var metadata: Logger.Metadata = [
      // A client has chosen the name: it must not contain a line break.
      "store": "\(store.name.printable)", "kind": "\(store.kind)",
      "stage": "\(operation.stage.rawValue)",
      "operation": "\(operation.name)", "number": "\(operation.number)",
    ]
    if let session = store.session { metadata["session"] = "\(session)" }
    return metadata
  }
}
