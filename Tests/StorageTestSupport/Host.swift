// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// An actor with one store.
public actor Host<Machine: StateMachine>: StoreHost {
  private var store: Store<Machine>?
  private var watchers: [(condition: (Machine.State) -> Bool, CheckedContinuation<Void, Never>)] =
    []
  /// The RFC 6902 patches that a listener has received, as text.
  public private(set) var patches: [String] = []

  public init(_ machine: Machine) async throws {
    let store = try Store(machine, number: StoreNumber(1), host: self)
    self.store = store
    _ = store.listen { publication in self.published(publication) }
  }

  public func deliver(_ message: EffectMessage) {
    store?.receive(message)
  }

  public var state: Machine.State? { store?.state }

  /// Sends an input and returns its completion when all its effects have ended.
  @discardableResult
  public func send(_ input: Machine.Input) async throws -> Completion? {
    let inputID = try begin(input)
    return await settlement(of: inputID)
  }

  /// Sends an input and returns its id without waiting for effects.
  @discardableResult
  public func begin(_ input: Machine.Input) throws -> InputID {
    guard let result = try store?.send(input) else { throw StoreError.closed }
    return result.inputID
  }

  /// Returns the completion of an input when all its effects have ended.
  @discardableResult
  public func settlement(of inputID: InputID) async -> Completion? {
    guard let store else { return nil }
    return await withCheckedContinuation { continuation in
      store.whenSettled(inputID) { continuation.resume(returning: $0) }
    }
  }

  /// Declares that a request waits for the end of an input.
  public func respondsAtEnd(of inputID: InputID) { store?.respondsAtEnd(of: inputID) }

  public func cancel(_ inputID: InputID) {
    store?.cancel(inputID)
  }

  /// Waits until the state fulfils a condition.
  public func until(_ condition: @escaping @Sendable (Machine.State) -> Bool) async {
    if let state = store?.state, condition(state) { return }
    await withCheckedContinuation { watchers.append((condition, $0)) }
  }

  /// Closes the store and waits for the end of its work.
  public func close() async {
    for task in store?.close() ?? [] { await task.value }
  }

  private func published(_ publication: borrowing Publication) {
    if let patch = publication.patch { patches.append(String(decoding: patch, as: UTF8.self)) }
    guard let state = store?.state else { return }
    let due = watchers.filter { $0.condition(state) }
    watchers.removeAll { $0.condition(state) }
    for (_, watcher) in due { watcher.resume() }
  }
}
