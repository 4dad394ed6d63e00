// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Returns a hook that starts a process when an operation begins and stops it when the operation
  /// ends, for example a span, a timer or an indicator.
  ///
  /// Each started process is stopped: when the operation finishes, fails or is cancelled, and when
  /// the store closes. Starts and stops of one store are called one at a time, in order.
  ///
  /// - Parameters:
  ///   - stages: The kinds of operations.
  ///   - start: Starts the process. If it throws, `stop` is not called.
  ///   - stop: Stops the process.
  ///   - failed: Receives the errors that `start` and `stop` throw.
  public static func process<Process: Sendable>(
    of stages: Set<Operation.Stage> = [.operation],
    start: @escaping @Sendable (Operation) async throws -> Process,
    stop: @escaping @Sendable (Process, OperationEnd) async throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Hook {
    perStore {
      let started = Lock<[Operation: Process]>([:])
      @Sendable func end(_ operation: Operation, _ end: OperationEnd) async throws {
        let process = started.withLock { $0.removeValue(forKey: operation) }
        if let process { try await stop(process, end) }
      }
      return Hook(
        stages: stages,
        receiveSubscription: { operation in
          let process = try await start(operation)
          started.withLock { $0[operation] = process }
        },
        receiveCompletion: { try await end($0, $1) },
        receiveCancel: { try await end($0, .cancelled) }, failed: failed)
    }
  }
}
