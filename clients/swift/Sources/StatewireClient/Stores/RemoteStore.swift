// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import StatewireProtocol

/// A subscription to one store of a session: its states, its events and its inputs.
///
///     for try await state in store.states { draw(state) }
///
/// The iteration begins with the current state and then yields the latest one after each change. A
/// slow consumer skips intermediate states. No state equals the previous one. A state is decoded when
/// it is read.
public struct RemoteStore<Input: Encodable & Sendable, State: Decodable & Sendable>: Sendable {
  let client: Client
  let number: Int
  /// The store's name in the session.
  public let name: String
}

// MARK: - States

extension RemoteStore {
  /// The state to draw: the server's state with optimistic updates applied.
  ///
  /// - Throws: `StatewireError` if the subscription has ended; `JSONError` if the state is not a
  ///   `State`.
  public var state: State {
    get async throws { try await state(of: try await snapshot()) }
  }

  /// The server's state, without optimistic updates, and its revision.
  public var confirmed: (state: State, revision: Int) {
    get async throws {
      var snapshot = try await snapshot()
      snapshot.optimistic = []
      return (try await state(of: snapshot), snapshot.revision)
    }
  }

  /// The states, beginning with the current one.
  public var states: States { States(store: self) }

  /// Waits for a state that meets a condition.
  ///
  /// - Parameters:
  ///   - timeout: The maximum time to wait; nil for no limit.
  ///   - condition: The condition.
  /// - Returns: The state.
  /// - Throws: `StatewireError` with the code `timedOut`, or the error that has ended the
  ///   subscription.
  public func waitUntil(
    timeout: Duration? = nil, _ condition: @escaping @Sendable (State) -> Bool
  ) async throws -> State {
    try await within(timeout, name) {
      for try await state in states where condition(state) { return state }
      throw StatewireError(.clientClosed, "the client was closed")
    }
  }

  /// Subscribes to the events of the store from now on. The buffer holds 256; older ones are
  /// dropped.
  ///
  /// - Parameter type: The type of the events, such as `FormEvent`.
  public func events<Event: Decodable & Sendable>(
    of type: Event.Type = Event.self
  ) async throws -> some AsyncSequence<Event, any Error> & Sendable {
    try await client.events(number).map { try JSON.decode(Event.self, from: $0) }
  }

  private func snapshot() async throws -> StoreSnapshot {
    guard let snapshot = await client.snapshot(number) else {
      throw StatewireError(.storeClosed, "the store is closed")
    }
    return snapshot
  }

  /// Decodes a state and applies optimistic updates.
  ///
  /// Decoding a large state takes long, so it runs neither on the caller's actor nor on the
  /// client's.
  @concurrent
  func state(of snapshot: StoreSnapshot) async throws -> State {
    let confirmed = try decode(snapshot.confirmed)
    let state = snapshot.optimistic.reduce(confirmed as any Sendable) { $1($0) }
    return state as? State ?? confirmed
  }

  private func decode(_ value: JSONValue) throws -> State {
    if let value = value as? State { return value }
    return try JSON.decode(State.self, from: value, limits: .ofServer)
  }
}

// MARK: - Inputs

extension RemoteStore {
  /// Sends an input and waits for its send result. The server applies it exactly once, also when
  /// the connection is lost. Cancellation and timeout cancel the effects of the input on the
  /// server.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - settle: True to wait until all effects of the input have ended; nil is true with
  /// `optimistic`.
  ///   - timeout: The maximum time to wait; nil uses the client's `timeout`, or no limit with
  /// `settle`.
  ///   - optimistic: Computes the state that the input will probably lead to. It is applied to the
  ///     server's states until the result (with `settle`) or the update with the change (without)
  ///     arrives. It may be called several times.
  /// - Returns: The revision of the store when the response was made (the replica has this revision
  ///   or a later one), and whether the input has changed the view state. The latter is false for
  /// an input
  ///   that was sent again although the server had applied it.
  /// - Throws: `RPCError` if the server refuses the input; `StatewireError` if it is unknown
  ///   whether it was applied, or with the code `timedOut`.
  @discardableResult
  public func send(
    _ input: Input, settle: Bool? = nil, timeout: Duration? = nil,
    optimistic: (@Sendable (State) -> State)? = nil
  ) async throws -> StoreSend.Result {
    let text = try JSON.encode(input)
    let settle = settle ?? (optimistic != nil)
    let limit = timeout ?? (settle ? nil : client.options.timeout)
    let change = change(optimistic)
    return try await within(limit, name) {
      try await client.send(number, text, settle: settle, optimistic: change)
    }
  }

  /// Sends an input without waiting for its result. Inputs are applied in the order of the calls.
  ///
  /// Waits only while the maximum number of inputs is pending.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - settle: True to get the result when all effects have ended; nil is true with `optimistic`.
  ///   - optimistic: See `send`.
  /// - Returns: The pending input.
  @discardableResult
  public func post(
    _ input: Input, settle: Bool? = nil, optimistic: (@Sendable (State) -> State)? = nil
  ) async throws -> PendingInput {
    let promise = try await client.posted(
      number, try JSON.encode(input), settle: settle ?? (optimistic != nil),
      optimistic: change(optimistic))
    return PendingInput(promise: promise)
  }

  private func change(_ optimistic: (@Sendable (State) -> State)?) -> StoreSnapshot.Change? {
    guard let optimistic else { return nil }
    return { state in
      guard let state = state as? State else { return state }
      return optimistic(state)
    }
  }
}

/// An input that was sent with `post`.
public struct PendingInput: Sendable {
  let promise: Promise<StoreSend.Result>

  /// The send result. Must be read once. Cancelling the wait does not cancel the input.
  ///
  /// - Throws: The errors of `RemoteStore.send`.
  public var result: StoreSend.Result {
    get async throws { try await promise.value }
  }
}

// MARK: - Verification

extension RemoteStore {
  /// Compares the digest of the replica with the server's; requests the whole state if they differ.
  ///
  /// - Returns: True if they were equal.
  public func verify() async throws -> Bool {
    try await client.verify(number)
  }

  /// The number of times that the whole state was requested, by divergence.
  public var resyncs: [Divergence: Int] {
    get async { await client.resyncs(number) }
  }

  /// Ends the subscription. The store stays open in the session.
  public func unsubscribe() async throws {
    try await client.unsubscribe(number)
  }
}
