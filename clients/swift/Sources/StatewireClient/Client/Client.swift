// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import StatewireProtocol

/// A frontend's connection to a session, and the stores that it looks at.
///
/// The session is opened once and attached to again after each lost connection, with the revisions held:
/// the server replays what was missed, or sends the state as it is. Inputs are numbered, so that those
/// whose answers were lost are sent again, and applied exactly once.
///
/// It lives as long as somebody is in `run`; `withClient` sees to that.
public actor Client {
  /// How the connection is.
  public enum Status: Sendable, Hashable {
    /// It is being made for the first time.
    case connecting
    /// All is up to date, or will be at once.
    case open
    /// It was lost, and comes back by itself.
    case waiting
    /// Nothing more comes.
    case closed
  }

  /// A notification that belongs to no store: `session/presence`, `session/traced`, `session/closed`.
  public struct Notification: Sendable {
    public let method: String
    public let params: JSONValue
  }

  let address: Address
  let options: ClientOptions
  /// The name of this frontend in the session.
  public nonisolated let frontend: String
  /// The handle of the session, once there is one; who has it can attach.
  public internal(set) var session: String?
  /// What this frontend may do.
  public internal(set) var role: FrontendRole
  /// How the connection is.
  public internal(set) var status = Status.connecting
  /// How often the connection was lost and came back.
  public internal(set) var resumptions = 0

  /// Why nothing more comes, if so.
  var over: (any Error)?
  /// The connection, from its first request on.
  var connection: Connection?
  /// Ends what `run` waits for.
  var interrupt: AsyncStream<Void>.Continuation?
  var wasInSession = false
  var phase = FrontendLifecycle.Phase.active
  let inputs: Inputs
  var records: [Int: StoreRecord] = [:]
  var numbers: [ByteName: Int] = [:]
  var lastNumber = 0
  /// Told when the connection is ready, is lost, or will never come again.
  var news = News()
  var notifications = Happenings<Notification>()
  /// The revision at which each store was compared with the server's the last time.
  var checked: [Int: Int] = [:]

  /// A client of the server at an address, or of one that is started; nothing happens before `run`.
  public init(_ address: Address, _ options: ClientOptions = ClientOptions()) {
    self.address = address
    self.options = options
    frontend =
      options.frontend ?? "swift-" + String(UInt64.random(in: .min ... .max), radix: 16)
    session = options.session
    role = options.role
    inputs = Inputs(maximumCount: options.maximumWaiting, backoff: options.backoff)
  }
}

/// Does something with a client, which is closed afterwards.
///
/// - Parameters:
///   - address: Where the server is, or how it is started.
///   - options: How the client behaves.
///   - body: What is done with it; it need not wait for the connection.
/// - Throws: What `body` throws. Whatever it asks of a client without a connection throws why.
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
      // What it has ended with was told to whoever asked.
      while await group.nextResult() != nil {}
      return value
    } catch {
      await client.close()
      throw error
    }
  }
}

// MARK: - Life

extension Client {
  /// Ends the connection. The session goes on for a while, for others and for whoever has its handle.
  ///
  /// What was not answered until then may or may not have arrived.
  public func close() {
    finish(StatewireError(.left, "the client was closed"))
  }

  /// Ends the session for everybody, and the connection.
  public func endSession() async throws {
    _ = try await request("session/close")
    close()
  }

  /// Waits until the connection is there.
  ///
  /// - Throws: Why it will never be.
  public func connected() async throws {
    _ = try await ready()
  }

  /// How the connection is, at once and each time it changes.
  public var statuses: some AsyncSequence<Status, any Error> & Sendable {
    let stream = status == .closed ? endedNews() : news.listen(isTold: true)
    return stream.map { _ in await self.status }
  }

  private func endedNews() -> News.Stream {
    var news = News()
    let stream = news.listen(isTold: true)
    news.end()
    return stream
  }
}

// MARK: - Asking

extension Client {
  /// Sends any request, once there is a connection, and gives its result.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - params: Its params, an object.
  ///   - timeout: How long the answer may take; nil: as long as the options say.
  /// - Throws: `RPCError` where the server refuses it. `StatewireError` with the code `connectionLost`
  ///   if the connection ends before the answer: it is not sent again.
  public func request(
    _ method: String, _ params: JSONValue = [:], timeout: Duration? = nil
  ) async throws -> JSONValue {
    try await ask(try await ready(), method, params, timeout: timeout)
  }

  /// Says whether somebody looks at this frontend, on this connection and on those that come.
  public func look(_ isLooking: Bool) async throws {
    phase = isLooking ? .active : .inactive
    if status == .open {
      _ = try await request(
        "frontend/lifecycle", ["phase": .string(phase.rawValue)])
    }
  }

  /// What the server tells beside stores, from now on; of more than 256 that wait the oldest are
  /// dropped.
  public func listen() -> AsyncThrowingStream<Notification, any Error> {
    notifications.listen()
  }

  /// Changes the role in the session.
  public func become(_ role: FrontendRole) async throws {
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

// MARK: - What the others build on

extension Client {
  /// The connection, as soon as there is one.
  ///
  /// - Throws: What it all has ended with.
  func ready() async throws -> Connection {
    while true {
      if let over { throw over }
      if status == .open, let connection, connection.end == nil { return connection }
      for try await _ in news.listen() { break }
      try Task.checkCancellation()
    }
  }

  /// Sends a request on a connection, and waits for its answer; whoever gives up has it cancelled.
  func ask(
    _ connection: Connection, _ method: String, _ params: JSONValue, timeout: Duration? = nil
  ) async throws -> JSONValue {
    let promise = Promise<JSONValue>()
    let id = connection.start(method, params) { promise.resolve($0) }
    return try await answer(promise, to: id, on: connection, method, timeout)
  }

  /// Waits for the answer to a request that was sent.
  func answer(
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

  /// Nothing more comes, for this reason.
  func finish(_ error: any Error) {
    guard over == nil else { return }
    over = error
    status = .closed
    let isWanted = (error as? StatewireError)?.code == .left
    inputs.end(error)
    for record in records.values { record.end(isWanted ? nil : error) }
    records = [:]
    numbers = [:]
    notifications.end(throwing: isWanted ? nil : error)
    news.tell()
    news.end()
    interrupt?.finish()
  }
}
