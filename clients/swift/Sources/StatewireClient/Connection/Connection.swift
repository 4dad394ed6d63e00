// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// One JSON-RPC connection: requests, responses, notifications, and replicas of store states.
///
/// A connection sends nothing by itself and has no socket: the caller takes its output and passes
/// in received messages. Callbacks run synchronously, before the next message is handled, so
/// replicas are up to date when a response is reported.
final class Connection {
  typealias Completion = (Result<JSONValue, any Error>) -> Void

  /// The callbacks of a connection.
  struct Listener {
    /// A notification has arrived, with its method and params. Replicas are up to date already.
    var notified: (String, JSONValue) -> Void = { _, _ in }
    /// A replica differs from the server's state.
    var diverged: (Replica, Divergence) -> Void = { _, _ in }
    /// An error with id null has arrived: it does not name its request.
    var failed: (RPCError) -> Void = { _ in }
    /// There is output to write.
    var wrote: () -> Void = {}
  }

  private struct Request {
    let method: String
    let store: String
    /// True if the response waits for the effects of the request.
    let settles: Bool
    let size: FrameSize
    let completion: Completion
  }

  /// The replicas of subscribed stores. At first those of an earlier connection, which
  /// `session/attach` resumes.
  var replicas: [ByteName: Replica]
  /// The number of messages received, to detect silence.
  private(set) var receivedCount = 0
  /// The error that has ended the connection.
  private(set) var end: StatewireError?

  private let listener: Listener
  private var lastID = 0
  private var requests: [Int: Request] = [:]
  private var outgoing = JSONWriter()
  private var lastFailure: RPCError?
  /// The limits in the result of `initialize`.
  private var limits: Initialize.Limits?
  /// True while a ping is pending that determines which request the server could not parse.
  private var isSearching = false

  init(replicas: [ByteName: Replica] = [:], listener: Listener) {
    self.replicas = replicas
    self.listener = listener
  }
}

// MARK: - Sending

extension Connection {
  /// Sends a request. If its frame exceeds a limit of the server, it fails immediately with the
  /// error that the server would return.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - store: The store in its params, if there is one.
  ///   - settles: True if the response waits for effects.
  ///   - params: Writes the params, one object.
  ///   - completion: Called with the result or the error when the response is handled.
  /// - Returns: The request id, for `cancel`.
  @discardableResult
  func start(
    _ method: String, store: String, settles: Bool = false, params: (inout JSONWriter) -> Void,
    completion: @escaping Completion
  ) -> Int {
    lastID += 1
    let id = lastID
    if let end {
      completion(.failure(end))
      return id
    }
    switch write(id: id, method, params) {
    case .success(let size):
      requests[id] = Request(
        method: method, store: store, settles: settles, size: size, completion: completion)
      listener.wrote()
    case .failure(let refusal):
      completion(.failure(refusal))
    }
    return id
  }

  /// Sends a request with params as a value.
  @discardableResult
  func start(_ method: String, _ params: JSONValue, completion: @escaping Completion) -> Int {
    start(
      method, store: params["store"]?.string ?? "", settles: params["settle"]?.bool ?? false,
      params: { $0.value(params) }, completion: completion)
  }

  /// Sends a notification, unless its frame exceeds a limit of the server.
  func notify(_ method: String, _ params: JSONValue) {
    guard end == nil, case .success = write(id: nil, method, { $0.value(params) }) else { return }
    listener.wrote()
  }

  /// Sends `$/cancelRequest`.
  func cancel(_ id: Int) {
    notify("$/cancelRequest", ["id": .number(JSONNumber(id))])
  }

  /// Appends a message to the output, unless its frame exceeds a limit.
  private func write(
    id: Int?, _ method: String, _ params: (inout JSONWriter) -> Void
  ) -> Result<FrameSize, RPCError> {
    let start = outgoing.count
    outgoing.beginObject()
    outgoing.key("jsonrpc")
    outgoing.value("2.0" as StaticString)
    if let id {
      outgoing.key("id")
      outgoing.value(id)
    }
    outgoing.key("method")
    outgoing.value(method)
    outgoing.key("params")
    params(&outgoing)
    outgoing.endObject()
    let size = outgoing.withBytes { FrameSize(of: UnsafeRawBufferPointer(rebasing: $0[start...])) }
    if let refusal = limits?.refusal(of: size) {
      outgoing.truncate(to: start)
      return .failure(refusal)
    }
    outgoing.raw("\n")
    return .success(size)
  }

  /// Takes the output: one message per line; empty if there is none.
  func takeOutgoing() -> [UInt8] {
    defer { outgoing.removeAll(keepingCapacity: outgoing.count < 1 << 16) }
    return outgoing.bytes()
  }
}

// MARK: - Receiving

extension Connection {
  /// Handles a message.
  ///
  /// - Throws: `StatewireError` with the code `protocolViolation`; the caller must close the
  ///   connection.
  func received(_ bytes: [UInt8]) throws {
    receivedCount += 1
    let message: JSONValue
    do {
      message = try JSONValue(parsing: bytes, limits: .ofServer)
    } catch {
      throw StatewireError(.protocolViolation, "the server has sent invalid JSON", cause: error)
    }
    if case .array(let parts) = message {
      for part in parts { try take(part) }
    } else {
      try take(message)
    }
  }

  /// Ends the connection and fails all open requests.
  func ended(_ cause: (any Error)?) {
    guard end == nil else { return }
    // The last error with id null is the reason why the server has closed the connection.
    let end = StatewireError(
      .connectionLost, "the connection has ended", cause: lastFailure ?? cause)
    self.end = end
    let open = requests.sorted { $0.key < $1.key }
    requests = [:]
    for (_, request) in open { request.completion(.failure(end)) }
  }

  private func take(_ message: JSONValue) throws {
    guard case .object(let members) = message else {
      throw StatewireError(
        .protocolViolation, "the server has sent JSON that is not a JSON-RPC message")
    }
    if let method = members["method"]?.string {
      // Servers of this protocol version send no requests.
      if members["id"] == nil, let params = members["params"] { notified(method, params) }
    } else {
      try takeResponse(members)
    }
  }

  private func notified(_ method: String, _ params: JSONValue) {
    switch method {
    case "store/changed":
      if let replica = replica(params) { report(replica, replica.apply(params)) }
    case "store/closed":
      if let store = params["store"]?.string { replicas[ByteName(store)] = nil }
    case "session/closed":
      replicas = [:]
    default:
      break
    }
    listener.notified(method, params)
  }

  private func takeResponse(_ message: JSONObject) throws {
    guard let id = message["id"]?.int, let request = requests.removeValue(forKey: id) else {
      if let error = message["error"], message["id"]?.isNull == true {
        failed(RPCError(received: error))
      }
      return
    }
    if let error = message["error"] {
      request.completion(.failure(RPCError(received: error)))
      return
    }
    guard let result = message["result"],
      result.object != nil || result.isNull && request.method == "shutdown"
    else {
      throw StatewireError(.protocolViolation, "the result of \(request.method) is not an object")
    }
    try updateReplicas(request, result)
    request.completion(.success(result))
  }
}

// MARK: - Refused frames

extension Connection {
  /// Handles an error with id null: the server has refused a frame or the connection. The request
  /// in the frame gets no other response.
  private func failed(_ error: RPCError) {
    switch error.extent {
    case .longest: fail(error, first(by: { $0.size.bytes }))
    case .deepest: fail(error, first(by: { $0.size.nesting }))
    case .unread: search(error)
    // The error is the reason why the server closes the connection.
    case .none: lastFailure = error
    }
    listener.failed(error)
  }

  /// Returns the open request with the highest value; of several the one that was sent first.
  private func first(by value: (Request) -> Int) -> [Int] {
    let highest = requests.max { (value($0.value), -$0.key) < (value($1.value), -$1.key) }
    return highest.map { [$0.key] } ?? []
  }

  /// Ends the requests that are still open when the response to a ping arrives.
  ///
  /// Errors that arrive before the response to the ping belong to frames before the ping, so one
  /// ping is enough for all of them.
  private func search(_ error: RPCError) {
    guard !isSearching, !requests.isEmpty else { return }
    let last = lastID
    isSearching = true
    start("ping", [:]) { [unowned self] result in
      isSearching = false
      guard case .success = result else { return }
      let open = requests.filter { $0.key <= last }
      // The response to a request without `settle` would have preceded that to the ping.
      let immediate = open.filter { !$0.value.settles }
      fail(error, (immediate.isEmpty ? open : immediate).keys.sorted())
    }
  }

  private func fail(_ error: RPCError, _ ids: [Int]) {
    for id in ids { requests.removeValue(forKey: id)?.completion(.failure(error)) }
  }
}

// MARK: - Replicas

extension Connection {
  private func replica(_ params: JSONValue) -> Replica? {
    params["store"]?.string.flatMap { replicas[ByteName($0)] }
  }

  /// Updates replicas according to a result.
  private func updateReplicas(_ request: Request, _ result: JSONValue) throws {
    let store = ByteName(request.store)
    switch request.method {
    case "store/send":
      if let replica = replicas[store] {
        report(replica, replica.checkResponse(revision: result["revision"]?.int))
      }
    case "store/state":
      if let replica = replicas[store] { report(replica, replica.compare(result)) }
    case "store/subscribe":
      try hold(store, result)
    case "store/unsubscribe":
      replicas[store] = nil
    case "initialize":
      limits = result["limits"].flatMap { try? JSON.decode(Initialize.Limits.self, from: $0) }
    case "session/attach":
      try attached(result["stores"])
    case "session/detach", "session/close":
      replicas = [:]
    default:
      break
    }
  }

  /// Takes the snapshots of `session/attach`. A replayed store keeps its replica; its updates
  /// follow.
  private func attached(_ stores: JSONValue?) throws {
    guard let stores = stores?.object else {
      throw StatewireError(.protocolViolation, "the result of session/attach has no stores")
    }
    replicas = replicas.filter { stores[$0.key.text] != nil }
    for (store, result) in stores {
      if let snapshot = result["snapshot"] {
        try hold(ByteName(store), snapshot)
      } else if result["closed"] != nil {
        replicas[ByteName(store)] = nil
      }
    }
  }

  private func hold(_ store: ByteName, _ snapshot: JSONValue) throws {
    guard let revision = snapshot["revision"]?.int, let state = snapshot["state"] else {
      throw StatewireError(.protocolViolation, "the server has sent a state without its revision")
    }
    if let replica = replicas[store] {
      replica.reset(revision: revision, state: state)
    } else {
      replicas[store] = Replica(store: store.text, revision: revision, state: state)
    }
  }

  private func report(_ replica: Replica, _ divergence: Divergence?) {
    if let divergence { listener.diverged(replica, divergence) }
  }
}
