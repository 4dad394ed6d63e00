// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// One connection: requests and their answers, notifications, and the views that frames keep up to date.
///
/// It sends nothing that it was not asked for, and knows no socket: what it writes is taken out, what
/// comes is handed in. All it has to tell it tells at once, before it reads the next message, so that
/// whoever hears an answer sees the state that belongs to it.
final class Connection {
  typealias Answered = (Result<JSONValue, any Error>) -> Void

  /// Who is told what happens.
  struct Listener {
    /// A notification has come, of this method and with these params; views are up to date already.
    var notified: (String, JSONValue) -> Void = { _, _ in }
    /// A view is not the server's any more.
    var faulty: (View, Fault) -> Void = { _, _ in }
    /// The server has said what is wrong, but not with which request.
    var failed: (RPCError) -> Void = { _ in }
    /// There is something to write.
    var wrote: () -> Void = {}
  }

  private struct Request {
    let method: String
    let store: String
    /// Whether the response waits for the effects of the request.
    let settles: Bool
    let size: FrameSize
    let answered: Answered
  }

  /// The stores that this connection has subscribed to, or is about to attach to: what was held before,
  /// to be kept up to date from then on.
  var views: [ByteName: View]
  /// How many messages have come, so that silence can be noticed.
  private(set) var receivedCount = 0
  /// Why it has ended, if it has.
  private(set) var end: StatewireError?

  private let listener: Listener
  private var lastID = 0
  private var requests: [Int: Request] = [:]
  private var outgoing = JSONWriter()
  private var lastFailure: RPCError?
  /// What the server accepts, once it has told it.
  private var limits: Initialize.Limits?
  /// A ping is under way that finds out which request the server could not read.
  private var isSearching = false

  init(views: [ByteName: View] = [:], listener: Listener) {
    self.views = views
    self.listener = listener
  }
}

// MARK: - Sending

extension Connection {
  /// Sends a request, unless its frame exceeds a limit of the server: then it fails immediately, with the
  /// error that the server would give.
  ///
  /// - Parameters:
  ///   - method: The method.
  ///   - store: The store in its params, if there is one.
  ///   - settles: Whether the response waits for effects.
  ///   - params: Writes the params, one object.
  ///   - answered: Is told the result, or what went wrong, at the moment of the answer.
  /// - Returns: The id, for `cancel`.
  @discardableResult
  func start(
    _ method: String, store: String, settles: Bool = false, params: (inout JSONWriter) -> Void,
    answered: @escaping Answered
  ) -> Int {
    lastID += 1
    let id = lastID
    if let end {
      answered(.failure(end))
      return id
    }
    switch write(id: id, method, params) {
    case .success(let size):
      requests[id] = Request(
        method: method, store: store, settles: settles, size: size, answered: answered)
      listener.wrote()
    case .failure(let refusal):
      answered(.failure(refusal))
    }
    return id
  }

  /// Sends a request, whose store is the one that its params name.
  @discardableResult
  func start(_ method: String, _ params: JSONValue, answered: @escaping Answered) -> Int {
    start(
      method, store: params["store"]?.string ?? "", settles: params["settle"]?.bool ?? false,
      params: { $0.value(params) }, answered: answered)
  }

  /// Sends a notification, unless its frame exceeds a limit of the server.
  func notify(_ method: String, _ params: JSONValue) {
    guard end == nil, case .success = write(id: nil, method, { $0.value(params) }) else { return }
    listener.wrote()
  }

  /// Has the server cancel what a request goes on with.
  func cancel(_ id: Int) {
    notify("$/cancelRequest", ["id": .number(JSONNumber(id))])
  }

  /// Writes a message, or nothing if the server would refuse its frame.
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

  /// Takes out what is to be written, a message a line; empty if there is nothing.
  func takeOutgoing() -> [UInt8] {
    defer { outgoing.removeAll(keepingCapacity: outgoing.count < 1 << 16) }
    return outgoing.bytes()
  }
}

// MARK: - Receiving

extension Connection {
  /// A message has come.
  ///
  /// - Throws: `StatewireError` with the code `protocolViolation`; the connection is of no use then.
  func received(_ bytes: [UInt8]) throws {
    receivedCount += 1
    let message: JSONValue
    do {
      message = try JSONValue(parsing: bytes, limits: .ofServer)
    } catch {
      throw StatewireError(.protocolViolation, "the server has sent what is no JSON", cause: error)
    }
    if case .array(let parts) = message {
      for part in parts { try take(part) }
    } else {
      try take(message)
    }
  }

  /// The connection has ended; all requests have, too.
  func ended(_ cause: (any Error)?) {
    guard end == nil else { return }
    // What the server said last is why it has closed the connection.
    let end = StatewireError(
      .connectionLost, "the connection has ended", cause: lastFailure ?? cause)
    self.end = end
    let open = requests.sorted { $0.key < $1.key }
    requests = [:]
    for (_, request) in open { request.answered(.failure(end)) }
  }

  private func take(_ message: JSONValue) throws {
    guard case .object(let members) = message else {
      throw StatewireError(.protocolViolation, "the server has sent what is no message")
    }
    if let method = members["method"]?.string {
      // A server of this version of the protocol asks nothing.
      if members["id"] == nil, let params = members["params"] { notified(method, params) }
    } else {
      try answered(members)
    }
  }

  private func notified(_ method: String, _ params: JSONValue) {
    switch method {
    case "store/changed":
      if let view = view(params) { judge(view, view.change(params)) }
    case "store/closed":
      if let store = params["store"]?.string { views[ByteName(store)] = nil }
    case "session/closed":
      views = [:]
    default:
      break
    }
    listener.notified(method, params)
  }

  private func answered(_ message: JSONObject) throws {
    guard let id = message["id"]?.int, let request = requests.removeValue(forKey: id) else {
      if let error = message["error"], message["id"]?.isNull == true {
        failed(RPCError(received: error))
      }
      return
    }
    if let error = message["error"] {
      request.answered(.failure(RPCError(received: error)))
      return
    }
    guard let result = message["result"],
      result.object != nil || result.isNull && request.method == "shutdown"
    else {
      throw StatewireError(.protocolViolation, "the result of \(request.method) is no object")
    }
    try understand(request, result)
    request.answered(.success(result))
  }
}

// MARK: - Refused frames

extension Connection {
  /// The server has refused a frame, or the connection. Its error does not say which request it ends, and
  /// that request gets no response.
  private func failed(_ error: RPCError) {
    switch error.extent {
    case .longest: fail(error, first(by: { $0.size.bytes }))
    case .deepest: fail(error, first(by: { $0.size.nesting }))
    case .unread: search(error)
    // The reason why the server closes the connection.
    case .none: lastFailure = error
    }
    listener.failed(error)
  }

  /// The open request with the highest value; of several the one that was sent first.
  private func first(by value: (Request) -> Int) -> [Int] {
    let highest = requests.max { (value($0.value), -$0.key) < (value($1.value), -$1.key) }
    return highest.map { [$0.key] } ?? []
  }

  /// Finds the requests that the server has not answered by the time it answers a ping.
  ///
  /// Errors that come before that response are about frames from before the ping, so one ping is enough
  /// for them.
  private func search(_ error: RPCError) {
    guard !isSearching, !requests.isEmpty else { return }
    let last = lastID
    isSearching = true
    start("ping", [:]) { [unowned self] answer in
      isSearching = false
      guard case .success = answer else { return }
      let open = requests.filter { $0.key <= last }
      // A response that waits for no effects would have come before.
      let unanswered = open.filter { !$0.value.settles }
      fail(error, (unanswered.isEmpty ? open : unanswered).keys.sorted())
    }
  }

  private func fail(_ error: RPCError, _ ids: [Int]) {
    for id in ids { requests.removeValue(forKey: id)?.answered(.failure(error)) }
  }
}

// MARK: - Views

extension Connection {
  private func view(_ params: JSONValue) -> View? {
    params["store"]?.string.flatMap { views[ByteName($0)] }
  }

  /// What an answer says about views.
  private func understand(_ request: Request, _ result: JSONValue) throws {
    let store = ByteName(request.store)
    switch request.method {
    case "store/send":
      if let view = views[store] { judge(view, view.answered(revision: result["revision"]?.int)) }
    case "store/state":
      if let view = views[store] { judge(view, view.compare(result)) }
    case "store/subscribe":
      try hold(store, result)
    case "store/unsubscribe":
      views[store] = nil
    case "initialize":
      limits = result["limits"].flatMap { try? JSON.decode(Initialize.Limits.self, from: $0) }
    case "session/attach":
      try attached(result["stores"])
    case "session/detach", "session/close":
      views = [:]
    default:
      break
    }
  }

  /// A store that was replayed goes on from what is held; the frames follow.
  private func attached(_ stores: JSONValue?) throws {
    guard let stores = stores?.object else {
      throw StatewireError(.protocolViolation, "session/attach has an answer without stores")
    }
    views = views.filter { stores[$0.key.text] != nil }
    for (store, answer) in stores {
      if let snapshot = answer["snapshot"] {
        try hold(ByteName(store), snapshot)
      } else if answer["closed"] != nil {
        views[ByteName(store)] = nil
      }
    }
  }

  private func hold(_ store: ByteName, _ snapshot: JSONValue) throws {
    guard let revision = snapshot["revision"]?.int, let state = snapshot["state"] else {
      throw StatewireError(.protocolViolation, "a state has come without its revision")
    }
    if let view = views[store] {
      view.reset(revision: revision, state: state)
    } else {
      views[store] = View(store: store.text, revision: revision, state: state)
    }
  }

  private func judge(_ view: View, _ fault: Fault?) {
    if let fault { listener.faulty(view, fault) }
  }
}
