// SPDX-License-Identifier: Apache-2.0

/// Observes a store and never transforms what it does.
///
/// What is observed, as `Operation.stage` says: each input with its immediate actions, each
/// operation of a repository, service or loader with what it gave, and the store's stream of
/// actions and of view states. For each the order is: subscription, request, any number of outputs,
/// then exactly one of completion or cancel, and nothing after it.
///
/// Calls come off the event loop, one at a time, from a bounded queue of the hook's own: one that
/// is slow, hangs or throws delays nobody. When its queue is full, operations that begin then are
/// not shown to it, nor are outputs; the end of one that it has seen begin always is. What it
/// throws goes to `failed`.
///
/// ```swift
/// Hook<Counter>(receiveRequest: { operation, input in print(operation.name, input as Any) })
/// ```
public struct Hook<Machine: StateMachine>: Sendable {
  /// One operation begins.
  public var receiveSubscription: (@Sendable (Operation) async throws -> Void)?
  /// What it was asked for: the input, or nil for all else.
  public var receiveRequest: (@Sendable (Operation, Machine.Input?) async throws -> Void)?
  /// What it gave.
  public var receiveOutput: (@Sendable (Operation, HookOutput<Machine>) async throws -> Void)?
  /// It ended by itself: it finished or failed.
  public var receiveCompletion: (@Sendable (Operation, OperationEnd) async throws -> Void)?
  /// It was cancelled.
  public var receiveCancel: (@Sendable (Operation) async throws -> Void)?
  /// Takes what the others throw.
  public var failed: @Sendable (any Error) -> Void
  /// What it observes; the rest costs it nothing.
  public var stages: Set<Operation.Stage>
  /// Whether it is told of failures alone: of outputs and completions that say so.
  public var failuresOnly: Bool

  /// Takes each view state at once, past the queue; only the newest waits there.
  var newest: AsyncStream<Machine.ViewState>.Continuation?
  /// Makes the hook of one store.
  var renewed: (@Sendable () -> Hook)?

  /// Makes a hook of what is given; the rest is not observed.
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

  /// A hook that is made anew for each store, for one that remembers what it has seen.
  ///
  /// Operations have numbers within their store, so a hook that several stores share cannot tell
  /// theirs apart.
  public static func perStore(_ make: @escaping @Sendable () -> Hook) -> Hook {
    var hook = Hook()
    hook.renewed = make
    return hook
  }
}

/// What an observed operation gave.
public enum HookOutput<Machine: StateMachine>: Sendable {
  /// An action, and whether it says that the operation has failed.
  case action(Machine.Action, isFailure: Bool)
  /// A view state, as soon as frontends see it.
  case state(Machine.ViewState)
}

/// One call of a hook, waiting in its queue.
enum HookCall<Machine: StateMachine>: Sendable {
  case subscription(Operation)
  case request(Operation, Machine.Input?)
  case output(Operation, HookOutput<Machine>)
  case end(Operation, OperationEnd)
}

extension Hook {
  /// Makes one call; what it throws goes to `failed`.
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
