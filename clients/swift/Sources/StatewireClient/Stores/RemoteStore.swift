// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import StatewireProtocol

/// One store of a session: its states, its events, and where its inputs go.
///
///     for try await state in store.states { draw(state) }
///
/// gives the state that is, at once, and then each time the newest one. Who is slower than the server
/// misses what lay between, never the last. A state gets its type only when somebody takes it.
public struct RemoteStore<Input: Encodable & Sendable, State: Decodable & Sendable>: Sendable {
  let client: Client
  let number: Int
  /// The store's name in the session.
  public let name: String
}

// MARK: - Seeing

extension RemoteStore {
  /// The state to draw: the server's, with what was drawn optimistically on top.
  ///
  /// - Throws: `StatewireError` where nothing more comes; `JSONError` if it is no `State`.
  public var state: State {
    get async throws { try await drawn(try await look()) }
  }

  /// The state as the server has told it, and its revision.
  public var confirmed: (state: State, revision: Int) {
    get async throws {
      var look = try await look()
      look.drawings = []
      return (try await drawn(look), look.revision)
    }
  }

  /// The states from now on.
  public var states: States { States(store: self) }

  /// Waits for a state that meets a condition.
  ///
  /// - Parameters:
  ///   - timeout: How long it may take; nil: for ever.
  ///   - condition: What it has to meet.
  /// - Throws: `StatewireError` with the code `timedOut`, or why no state comes any more.
  public func first(
    within timeout: Duration? = nil, where condition: @escaping @Sendable (State) -> Bool
  ) async throws -> State {
    try await within(timeout, name) {
      for try await state in states where condition(state) { return state }
      throw StatewireError(.left, "the client was closed")
    }
  }

  /// What happens once and is not state, from now on; of more than 256 that wait the oldest are
  /// dropped.
  ///
  /// - Parameter type: What an event is, such as `FormEvent`.
  public func events<Event: Decodable & Sendable>(
    of type: Event.Type = Event.self
  ) async throws -> some AsyncSequence<Event, any Error> & Sendable {
    try await client.events(number).map { try JSON.decode(Event.self, from: $0) }
  }

  private func look() async throws -> StoreLook {
    guard let look = await client.look(number) else {
      throw StatewireError(.storeClosed, "the store was closed")
    }
    return look
  }

  /// Gives a state its type, and draws on top of it what is to be drawn.
  ///
  /// It takes long where a state is large, so it is not done on the caller's actor, nor on the client's.
  @concurrent
  func drawn(_ look: StoreLook) async throws -> State {
    let confirmed = try decode(look.confirmed)
    let drawn = look.drawings.reduce(confirmed as any Sendable) { $1($0) }
    return drawn as? State ?? confirmed
  }

  private func decode(_ value: JSONValue) throws -> State {
    if let value = value as? State { return value }
    return try JSON.decode(State.self, from: value, limits: .ofServer)
  }
}

// MARK: - Sending

extension RemoteStore {
  /// Sends an input and waits for its answer; it is applied exactly once, whatever happens to the
  /// connection. Whoever is cancelled has the server cancel what goes on with it.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - settle: Whether to wait until all its effects have ended; nil: if it is drawn.
  ///   - timeout: How long the answer may take; nil: as long as the client's options say, or with
  ///     `settle` for ever.
  ///   - drawing: What the input will probably make of a state. It is drawn on top of the server's states
  ///     until the answer, or without `settle` the frame with the change, is there. It may be asked
  ///     several times.
  /// - Returns: The revision that the store had then, the state held being of this one or a later one;
  ///   and whether the input has changed what frontends see, which is false for one that had to be sent
  ///   again and had been applied already.
  /// - Throws: `RPCError` if the input is refused; `StatewireError` if nobody knows whether it was
  ///   applied, or with the code `timedOut`.
  @discardableResult
  public func send(
    _ input: Input, settle: Bool? = nil, timeout: Duration? = nil,
    drawing: (@Sendable (State) -> State)? = nil
  ) async throws -> StoreSend.Result {
    let text = try JSON.encode(input)
    let settle = settle ?? (drawing != nil)
    let limit = timeout ?? (settle ? nil : client.options.timeout)
    let draw = draw(drawing)
    return try await within(limit, name) {
      try await client.send(number, text, settle: settle, draw: draw)
    }
  }

  /// Sends an input without waiting for its answer: many at once, in the order of the calls.
  ///
  /// It waits only as long as too many inputs have no answer.
  ///
  /// - Parameters:
  ///   - input: The input.
  ///   - settle: Whether the answer is to come when all its effects have ended; nil: if it is drawn.
  ///   - drawing: As for `send`.
  /// - Returns: The answer that will come.
  @discardableResult
  public func post(
    _ input: Input, settle: Bool? = nil, drawing: (@Sendable (State) -> State)? = nil
  ) async throws -> Posted {
    let answer = try await client.posted(
      number, try JSON.encode(input), settle: settle ?? (drawing != nil), draw: draw(drawing))
    return Posted(promise: answer)
  }

  private func draw(_ drawing: (@Sendable (State) -> State)?) -> StoreLook.Draw? {
    guard let drawing else { return nil }
    return { state in
      guard let state = state as? State else { return state }
      return drawing(state)
    }
  }
}

/// An input that was sent.
public struct Posted: Sendable {
  let promise: Promise<StoreSend.Result>

  /// Waits for the answer; to be asked once. Whoever stops waiting cancels nothing.
  ///
  /// - Throws: As `RemoteStore.send`.
  public var answer: StoreSend.Result {
    get async throws { try await promise.value }
  }
}

// MARK: - Being right

extension RemoteStore {
  /// Compares the state held with the server's by its digest; asks for it anew if it is another.
  ///
  /// - Returns: Whether it was right.
  public func check() async throws -> Bool {
    try await client.check(number)
  }

  /// How often the state was asked for anew, by reason.
  public var resynchronisations: [Fault: Int] {
    get async { await client.resynchronisations(number) }
  }

  /// Sees nothing more of the store, which goes on for others.
  public func close() async throws {
    try await client.forget(number)
  }
}
