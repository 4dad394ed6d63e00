// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Returns a hook that receives the actions of operations that do not report a failure.
  ///
  /// It receives actions of work and of immediate effects with the name of an operation. Immediate
  /// actions without such a name belong to no operation.
  public static func handleOutput(
    _ body: @escaping @Sendable (Operation, Machine.Action) async throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Hook {
    Hook(
      stages: [.operation],
      receiveOutput: { operation, output in
        guard case .action(let action, isFailure: false) = output else { return }
        try await body(operation, action)
      }, failed: failed)
  }

  /// Returns a hook that receives the actions of operations that report a failure.
  ///
  /// A named part of work fails without an action; use `debugPrint` or `receiveCompletion` for it.
  public static func handleError(
    _ body: @escaping @Sendable (Operation, Machine.Action) async throws -> Void,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) -> Hook {
    Hook(
      stages: [.operation], failuresOnly: true,
      receiveOutput: { operation, output in
        guard case .action(let action, isFailure: true) = output else { return }
        try await body(operation, action)
      }, failed: failed)
  }
}
