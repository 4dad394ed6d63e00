// SPDX-License-Identifier: Apache-2.0

public import Observation
public import StatewireClient

/// A store of a session as an observable object, for SwiftUI and other users of Observation.
///
///     struct Todos: View {
///       @State var todo = ObservedStore(client, .todo)
///
///       var body: some View {
///         Group {
///           if let error = todo.error { Text("\(error)") }
///           if case .content(let todos) = todo.state { List(todos) { Text($0.title) } }
///         }
///         .task { await todo.run() }
///       }
///     }
///
/// The client subscribes to the store while `run` is running. Objects of one store share the
/// subscription.
@MainActor
@Observable
public final class ObservedStore<Input: Encodable & Sendable, State: Decodable & Sendable> {
  /// The state to draw, with optimistic updates. Nil before the first state and after an error;
  /// while the client reconnects it is the last state.
  public private(set) var state: State?
  /// The state of the client's connection.
  public private(set) var status = Client.Status.connecting
  /// The error that has ended the last `run`, for example because the store cannot be opened or was
  /// closed.
  public private(set) var error: (any Error)?

  /// A Boolean value that indicates whether the client is attached to its session.
  public var isConnected: Bool { status == .connected }

  @ObservationIgnored private let client: Client
  @ObservationIgnored private let kind: Kind<Input, State>
  @ObservationIgnored private let name: String?
  @ObservationIgnored private let config: JSONValue?
  /// The store while it is subscribed to.
  @ObservationIgnored private var store: RemoteStore<Input, State>?

  /// Makes an object. It follows the store when `run` is called.
  ///
  /// - Parameters:
  ///   - client: The client, which is running.
  ///   - kind: The store kind, such as `.todo`.
  ///   - name: The store's name in the session; nil uses the name of its kind.
  ///   - config: The configuration; see `Client.open`.
  public init(
    _ client: Client, _ kind: Kind<Input, State>, name: String? = nil, config: JSONValue? = nil
  ) {
    self.client = client
    self.kind = kind
    self.name = name
    self.config = config
  }

  /// Follows the store until the subscription ends or the task is cancelled. An error is kept in
  /// `error`; another call tries again.
  public func run() async {
    error = nil
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await self.followStatus() }
        group.addTask { try await self.followStates() }
        // Throws the first error, which ends the other task.
        for try await _ in group {}
      }
    } catch {
      guard !Task.isCancelled else { return }
      status = await client.status
      state = nil
      self.error = error
    }
  }

  /// Sends an input; see `RemoteStore.send`.
  ///
  /// - Throws: The errors of `RemoteStore.send` and of `Client.open`.
  @discardableResult
  public func send(
    _ input: Input, settle: Bool? = nil, timeout: Duration? = nil,
    optimistic: (@Sendable (State) -> State)? = nil
  ) async throws -> StoreSend.Result {
    if let store {
      return try await store.send(
        input, settle: settle, timeout: timeout, optimistic: optimistic)
    }
    return try await client.withStore(kind, name: name, config: config) { store in
      try await store.send(input, settle: settle, timeout: timeout, optimistic: optimistic)
    }
  }

  private func followStatus() async throws {
    for try await status in await client.statuses where status != self.status {
      self.status = status
    }
  }

  private func followStates() async throws {
    try await client.withStore(kind, name: name, config: config) { store in
      self.store = store
      defer { self.store = nil }
      for try await state in store.states { self.state = state }
      guard !Task.isCancelled else { return }
      // The client was closed, or another user has unsubscribed: these calls throw the reason.
      if await client.status == .closed { try await client.connected() }
      _ = try await store.state
    }
  }
}
