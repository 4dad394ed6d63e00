// SPDX-License-Identifier: Apache-2.0

/// Observes the inputs and operations of a store and never transforms them.
///
/// For each operation the order is: subscription, request, any number of outputs, then exactly one
/// of completion or cancel, and nothing after it. Calls come off the event loop, one at a time,
/// from a bounded queue of the hook's own: one that is slow, hangs or throws delays nobody. When
/// its queue is full, operations that begin then are not shown to it, nor are outputs; the end of
/// one that it has seen begin always is. What it throws goes to `failed`.
///
/// ```swift
/// Hook(receiveRequest: { operation, input in print(operation.name, input as Any) })
/// ```
public struct Hook<Input: Sendable, Action: Sendable>: Sendable {
  /// One operation begins.
  public var receiveSubscription: (@Sendable (Operation) async throws -> Void)?
  /// What it was asked for: the input, or nil for work that an input set off.
  public var receiveRequest: (@Sendable (Operation, Input?) async throws -> Void)?
  /// An action that it gave.
  public var receiveOutput: (@Sendable (Operation, Action) async throws -> Void)?
  /// It ended by itself.
  public var receiveCompletion: (@Sendable (Operation) async throws -> Void)?
  /// It was cancelled.
  public var receiveCancel: (@Sendable (Operation) async throws -> Void)?
  /// Takes what the others throw.
  public var failed: @Sendable (any Error) -> Void

  /// Makes a hook of what is given; the rest is not observed.
  public init(
    receiveSubscription: (@Sendable (Operation) async throws -> Void)? = nil,
    receiveRequest: (@Sendable (Operation, Input?) async throws -> Void)? = nil,
    receiveOutput: (@Sendable (Operation, Action) async throws -> Void)? = nil,
    receiveCompletion: (@Sendable (Operation) async throws -> Void)? = nil,
    receiveCancel: (@Sendable (Operation) async throws -> Void)? = nil,
    failed: @escaping @Sendable (any Error) -> Void = { _ in }
  ) {
    self.receiveSubscription = receiveSubscription
    self.receiveRequest = receiveRequest
    self.receiveOutput = receiveOutput
    self.receiveCompletion = receiveCompletion
    self.receiveCancel = receiveCancel
    self.failed = failed
  }
}

/// What a hook observes: an input on its way, or work that it set off.
public struct Operation: Hashable, Sendable {
  /// `"input"`, or the name that the work was given.
  public let name: String
  /// Tells operations of one store and name apart.
  public let number: UInt64

  public init(name: String, number: UInt64) {
    self.name = name
    self.number = number
  }
}

/// One call of a hook, waiting in its queue.
enum HookCall<Input: Sendable, Action: Sendable>: Sendable {
  case subscription(Operation)
  case request(Operation, Input?)
  case output(Operation, Action)
  case completion(Operation)
  case cancel(Operation)
}

extension Hook {
  /// Makes one call; what it throws goes to `failed`.
  func receive(_ call: HookCall<Input, Action>) async {
    do {
      switch call {
      case .subscription(let operation): try await receiveSubscription?(operation)
      case .request(let operation, let input): try await receiveRequest?(operation, input)
      case .output(let operation, let action): try await receiveOutput?(operation, action)
      case .completion(let operation): try await receiveCompletion?(operation)
      case .cancel(let operation): try await receiveCancel?(operation)
      }
    } catch {
      failed(error)
    }
  }
}
