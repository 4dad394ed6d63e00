// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import StatewireProtocol

/// A client of one session and its stores. It reconnects by itself.
///
/// The client opens a session once. After each lost connection it attaches to the session again and
/// names the revisions that its replicas hold: the server replays the missed updates, or sends the
/// whole state. Inputs are numbered. An input without a response is sent again and applied exactly
/// once.
///
/// A client works while its method `run` is running; `withClient` does that.
public actor Client {
  /// The state of the connection.
  public enum Status: Sendable, Hashable {
    /// The first connection is being made.
    case connecting
    /// The client is attached to its session.
    case connected
    /// The connection was lost or refused; the client tries again by itself.
    case reconnecting
    /// The client is closed; final.
    case closed
  }

  /// A notification about the session: `session/presence`, `session/traced`, `session/closed`.
  public struct Notification: Sendable {
    /// The name of the method, for example `session/presence`.
    public let method: String
    /// The parameters, as the server has sent them.
    public let params: JSONValue
  }

  let address: Address
  let options: ClientOptions
  /// The name of this frontend in the session.
  public nonisolated let frontend: String
  /// The handle of the session, with which other clients can attach; nil before the first
  /// connection.
  public internal(set) var session: String?
  /// The role in the session.
  public internal(set) var role: FrontendRole
  /// The state of the connection.
  public internal(set) var status = Status.connecting
  /// The number of times that the client has reconnected.
  public internal(set) var reconnects = 0

  /// The error that has closed the client.
  var closeReason: (any Error)?
  /// The connection, from its first request on.
  var connection: Connection?
  /// Interrupts `run`.
  var interrupt: AsyncStream<Void>.Continuation?
  var wasInSession = false
  var phase = FrontendLifecycle.Phase.active
  /// The phase that the last `session/open` or `session/attach` was sent with.
  var enteredPhase = FrontendLifecycle.Phase.active
  let inputs: Inputs
  var records: [Int: StoreRecord] = [:]
  var numbers: [ByteName: Int] = [:]
  var lastNumber = 0
  /// Notified when the connection is ready or lost, and when the client closes.
  var signal = Signal()
  var notificationBroadcast = Broadcast<Notification>()
  /// The revision of each store at its last verification.
  var verified: [Int: Int] = [:]

  /// Makes a client. It connects when `run` is called.
  public init(_ address: Address, _ options: ClientOptions = ClientOptions()) {
    self.address = address
    self.options = options
    frontend =
      options.frontend ?? "swift-" + String(UInt64.random(in: .min ... .max), radix: 16)
    session = options.session
    role = options.role
    inputs = Inputs(maximumCount: options.maximumPending, backoff: options.backoff)
  }
}

/// Runs a client while `body` runs, and closes it afterwards.
///
/// - Parameters:
///   - address: The address of the server, or the command that starts it.
///   - options: The options of the client.
///   - body: The work. It can use the client immediately: calls wait for the connection.
/// - Throws: The error of `body`. If the client cannot connect, its calls throw the reason.
public func withClient<Value>(
  _ address: Address, _ options: ClientOptions = ClientOptions(),
  _ body: (Client) async throws -> Value
) async throws -> Value {
  let client = Client(address, options)
  return try await withThrowingTaskGroup(of: Void.self) { group in
    group.addTask { try await client.run() }
    do {
      let value = try await body(client)
      await client.close()
      // The error of `run` was thrown by calls of the client already.
      while await group.nextResult() != nil {}
      return value
    } catch {
      await client.close()
      throw error
    }
  }
}

// MARK: - Lifetime

extension Client {
  /// Closes the client. The session continues on the server until it expires.
  ///
  /// Pending inputs fail. The server may have applied them.
  public func close() {
    finish(StatewireError(.clientClosed, "the client was closed"))
  }

  /// Closes the session with its stores, for all clients, and then this client.
  public func endSession() async throws {
    _ = try await request("session/close")
    close()
  }

  /// Waits until the client is connected.
  ///
  /// - Throws: The error that has closed the client.
  public func connected() async throws {
    _ = try await ready()
  }

  /// The states of the connection, beginning with the current one.
  public var statuses: some AsyncSequence<Status, any Error> & Sendable {
    let stream = status == .closed ? endedSignal() : signal.subscribe(isNotified: true)
    return stream.map { _ in await self.status }
  }

  private func endedSignal() -> Signal.Stream {
    var signal = Signal()
    let stream = signal.subscribe(isNotified: true)
    signal.end()
    return stream
  }
}

// MARK: - Requests

extension Client {
  /// Sends a request as soon as the client is connected.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - params: Its params, an object.
  ///   - timeout: The maximum time for the response; nil uses the one of the options.
  /// - Returns: The result.
  /// - Throws: `RPCError` for an error response; `StatewireError` with the code `connectionLost` if
  ///   the connection ends before the response. The request is not sent again.
  public func request(
    _ method: String, _ params: JSONValue = [:], timeout: Duration? = nil
  ) async throws -> JSONValue {
    try await ask(try await ready(), method, params, timeout: timeout)
  }

  /// Reports whether the frontend is active (visible to a person), also on later connections.
  ///
  /// The server redacts some states while no frontend of the session is active.
  public func setPhase(_ phase: FrontendLifecycle.Phase) async throws {
    self.phase = phase
    if status == .connected {
      _ = try await request(
        "frontend/lifecycle", ["phase": .string(phase.rawValue)])
    }
  }

  /// Subscribes to notifications about the session from now on. The buffer holds 256; older ones
  /// are dropped.
  public func notifications() -> AsyncThrowingStream<Notification, any Error> {
    notificationBroadcast.subscribe()
  }

  /// Changes the role of this client in the session.
  public func setRole(_ role: FrontendRole) async throws {
    self.role = role
    while true {
      let connection = try await ready()
      do {
        _ = try await attach(connection)
        return
      } catch let error as StatewireError where error.code == .connectionLost {
        continue
      }
    }
  }
}

// MARK: - Internal requests

extension Client {
  /// Waits for a connection that is attached to the session.
  ///
  /// - Throws: The error that has closed the client.
  func ready() async throws -> Connection {
    while true {
      if let closeReason { throw closeReason }
      if status == .connected, let connection, connection.end == nil { return connection }
      for try await _ in signal.subscribe() { break }
      try Task.checkCancellation()
    }
  }

  /// Sends a request on a connection and waits for its result. Cancellation cancels it on the
  /// server.
  func ask(
    _ connection: Connection, _ method: String, _ params: JSONValue, timeout: Duration? = nil
  ) async throws -> JSONValue {
    let promise = Promise<JSONValue>()
    let id = connection.start(method, params) { promise.resolve($0) }
    return try await response(promise, to: id, on: connection, method, timeout)
  }

  /// Waits for the result of a request that was sent.
  func response(
    _ promise: Promise<JSONValue>, to id: Int, on connection: Connection, _ method: String,
    _ timeout: Duration? = nil
  ) async throws -> JSONValue {
    do {
      return try await within(timeout ?? options.timeout, method) { try await promise.value }
    } catch let error as RPCError {
      throw error
    } catch {
      connection.cancel(id)
      throw error
    }
  }

  /// Closes the client with an error.
  func finish(_ error: any Error) {
    guard closeReason == nil else { return }
    closeReason = error
    status = .closed
    let isWanted = (error as? StatewireError)?.code == .clientClosed
    inputs.end(error)
    for record in records.values { record.end(isWanted ? nil : error) }
    records = [:]
    numbers = [:]
    notificationBroadcast.end(throwing: isWanted ? nil : error)
    signal.notify()
    signal.end()
    interrupt?.finish()
  }
}
