// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Starts something when an operation begins and stops it when that ends: a span, a timer, an
  /// indicator.
  ///
  /// What has been started is always stopped: when the operation finishes, fails or is cancelled,
  /// and when the store closes. Starts and stops of one store come one at a time, in order.
  ///
  /// - Parameters:
  ///   - stages: Which operations it is for.
  ///   - start: Starts it. If it throws, there is nothing to stop.
  ///   - stop: Stops what was started.
  ///   - failed: Takes what the two throw.
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
