// SPDX-License-Identifier: Apache-2.0

// Work that throws: an error becomes the action that the work names for its failure.

/// The error of an operation that an injected fault has failed.
public struct InjectedFault: Error, CustomStringConvertible {
  /// The error in words for people.
  public var description: String { "an injected fault" }
}

extension Effect {
  /// Returns work that may throw. If it throws, it has failed and gives an action.
  ///
  /// - Parameters:
  ///   - name: The name of the operation for hooks, traces and injected faults.
  ///   - id: The id for `.cancel(id)`, as with `cancellable(_:)`.
  ///   - cancelled: The action to fold if the work is cancelled, as with `onCancel(_:)`.
  ///   - failure: The action that it gives when it throws, or when a fault is injected.
  ///   - work: The work; it ends when it returns or throws. Actions that it sends after
  ///     its task was cancelled are dropped.
  public static func run(
    _ name: String, id: EffectID? = nil, onCancel cancelled: Action? = nil,
    failing failure: Action,
    _ work: @escaping @Sendable (EffectContext<Action>) async throws -> Void
  ) -> Effect {
    run(name, id: id, onCancel: cancelled, failing: { _ in failure }, work)
  }

  /// Returns work that may throw. If it throws, it has failed and gives an action made from the
  /// error.
  ///
  /// - Parameters:
  ///   - name: The name of the operation for hooks, traces and injected faults.
  ///   - id: The id for `.cancel(id)`, as with `cancellable(_:)`.
  ///   - cancelled: The action to fold if the work is cancelled, as with `onCancel(_:)`.
  ///   - failure: Makes the action from the error; the error of an injected fault is an
  ///     `InjectedFault`.
  ///   - work: The work; it ends when it returns or throws. Actions that it sends after
  ///     its task was cancelled are dropped.
  public static func run(
    _ name: String, id: EffectID? = nil, onCancel cancelled: Action? = nil,
    failing failure: @escaping @Sendable (any Error) -> Action,
    _ work: @escaping @Sendable (EffectContext<Action>) async throws -> Void
  ) -> Effect {
    // A thrown error is known to be a failure, so no action has to be recognized as one.
    let failing = Failing(failure: failure(InjectedFault())) { _ in false }
    return run(name, id: id, onCancel: cancelled, failing: failing) { context in
      do {
        try await work(context)
      } catch {
        await context.fail(failure(error))
      }
    }
  }
}

// MARK: - Mistakes

extension Effect {
  /// An error for work that throws and names no failure.
  @available(
    *, unavailable, message: "name the action of its failure: .run(name, failing: .failed) { … }"
  )
  public static func run(
    _ name: String, id: EffectID? = nil, onCancel cancelled: Action? = nil,
    _ work: @escaping @Sendable (EffectContext<Action>) async throws -> Void
  ) -> Effect { .none }

  /// An error for a feed that throws.
  @available(*, unavailable, message: "catch the error, and send an action for it")
  public static func feed(
    _ id: EffectID, _ work: @escaping @Sendable (EffectContext<Action>) async throws -> Void
  ) -> Effect { .none }
}
