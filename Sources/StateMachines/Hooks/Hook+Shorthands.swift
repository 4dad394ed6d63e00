// SPDX-License-Identifier: Apache-2.0

extension Hook {
  /// Sees what operations give, but for what says that they have failed.
  ///
  /// Of work and of immediate effects that have the name of an operation; the immediate actions of
  /// an input that have none are no operation's.
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

  /// Sees what operations give to say that they have failed.
  ///
  /// A named part of work fails without an action; `debugPrint` and `receiveCompletion` tell it.
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
