// SPDX-License-Identifier: Apache-2.0

/// An observer of a store that cannot change what the store does.
///
/// A hook observes each input with its immediate actions, each operation of a repository, service
/// or loader with its outputs, and the store's streams of actions and view states; see
/// `Operation.Stage`. For each of them the order is: subscription, request, any number of outputs,
/// then exactly one of completion or cancel.
///
/// Calls are made off the event loop, one at a time, from a bounded queue of the hook. A hook that
/// is slow, hangs or throws delays nothing. While its queue is full, new operations and outputs are
/// not passed to it. The end of an operation whose beginning it has received is always passed to
/// it. Errors that it throws go to `failed`.
///
/// ```swift
/// Hook<Counter>(receiveRequest: { operation, input in print(operation.name, input as Any) })
/// ```
public struct Hook<Machine: StateMachine>: Sendable {
  /// Called when an operation begins.
  public var receiveSubscription: (@Sendable (Operation) async throws -> Void)?
  /// Called with the request of an operation: the input; nil for all other stages.
  public var receiveRequest: (@Sendable (Operation, Machine.Input?) async throws -> Void)?
  /// Called with an output of an operation.
  public var receiveOutput: (@Sendable (Operation, HookOutput<Machine>) async throws -> Void)?
  /// Called when an operation has finished or failed.
  public var receiveCompletion: (@Sendable (Operation, OperationEnd) async throws -> Void)?
  /// Called when an operation was cancelled.
  public var receiveCancel: (@Sendable (Operation) async throws -> Void)?
  /// Receives the errors that the other functions throw.
  public var failed: @Sendable (any Error) -> Void
  /// The stages that the hook observes; other stages cost nothing.
  public var stages: Set<Operation.Stage>
  /// True if the hook receives only outputs and completions that report a failure.
  public var failuresOnly: Bool

  /// Receives each view state immediately, without the queue; only the newest one is buffered.
  var newest: AsyncStream<Machine.ViewState>.Continuation?
  /// Makes the hook of one store.
  var renewed: (@Sendable () -> Hook)?

  /// Creates a hook from the given functions; nil functions observe nothing.
  public init(
    stages: Set<Operation.Stage> = Set(Operation.Stage.allCases), failuresOnly: Bool = false,
    receiveSubscription: (@Sendable (Operation) async throws -> Void)? = nil,
    receiveRequest: (@Sendable (Operation, Machine.Input?) async throws -> Void)? = nil,
    receiveOutput: (@Sendable (Operation, HookOutput<Machine>) async throws -> Void)? = nil,
    receiveCompletion: (@Sendable (Operation, OperationEnd) async throws -> Void)? = nil,
    receiveCancel: (@Sendable (Operation) async throws -> Void)? = nil,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    self.receiveSubscription = receiveSubscription
    self.receiveRequest = receiveRequest
    self.receiveOutput = receiveOutput
    self.receiveCompletion = receiveCompletion
    self.receiveCancel = receiveCancel
    self.failed = failed
    self.stages = stages
    self.failuresOnly = failuresOnly
  }

  /// Returns a hook that is created again for each store, for hooks that keep state.
  ///
  /// Operation numbers are unique only within a store, so a hook that several stores share cannot
  /// distinguish their operations.
  public static func perStore(_ make: @escaping @Sendable () -> Hook) -> Hook {
    var hook = Hook()
    hook.renewed = make
    return hook
  }
}

/// An output of an observed operation.
public enum HookOutput<Machine: StateMachine>: Sendable {
  /// An action, and whether it reports that the operation has failed.
  case action(Machine.Action, isFailure: Bool)
  /// A view state, when frontends receive it.
  case state(Machine.ViewState)
}

/// One call of a hook that waits in its queue.
enum HookCall<Machine: StateMachine>: Sendable {
  case subscription(Operation)
  case request(Operation, Machine.Input?)
  case output(Operation, HookOutput<Machine>)
  case end(Operation, OperationEnd)
}

extension Hook {
  /// Makes one call; an error that it throws goes to `failed`.
  func receive(_ call: HookCall<Machine>) async {
    do {
      switch call {
      case .subscription(let operation): try await receiveSubscription?(operation)
      case .request(let operation, let input): try await receiveRequest?(operation, input)
      case .output(let operation, let output): try await receiveOutput?(operation, output)
      case .end(let operation, .cancelled): try await receiveCancel?(operation)
      case .end(let operation, let end): try await receiveCompletion?(operation, end)
      }
    } catch {
      failed(error)
    }
  }
}
