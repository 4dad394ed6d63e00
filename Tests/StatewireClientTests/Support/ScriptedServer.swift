// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StatewireClient

/// The server side of one connection of a conversation, connected in memory to a connection of the
/// client.
final class ScriptedServer {
  private struct Request {
    let method: String
    let params: JSONValue
    let response: Response
  }

  /// The response to a request, when it has arrived.
  private final class Response {
    var result: Result<JSONValue, any Error>?
  }

  private final class Heard {
    var notifications: [(method: String, params: JSONValue)] = []
    var divergences: [Divergence] = []
    var failures: [RPCError] = []
  }

  private let connection: Connection
  private let heard = Heard()
  private let replay: Straightforward
  /// The client's request ids by those of the conversation, and the open requests.
  private var ids: [String: Int] = [:]
  private var open: [String: Request] = [:]

  init(_ seen: Straightforward.Seen) {
    replay = Straightforward(seen)
    let heard = heard
    connection = Connection(
      listener: Connection.Listener(
        notified: { heard.notifications.append(($0, $1)) },
        diverged: { heard.divergences.append($1) },
        failed: { heard.failures.append($0) }))
  }

  var hasEnded: Bool { connection.end != nil }

  /// Plays a conversation.
  static func play(_ conversation: Conversation) throws {
    var servers: [String: ScriptedServer] = [:]
    let seen = Straightforward.Seen()
    for line in conversation.lines {
      let known = servers[line.name].flatMap { $0.hasEnded ? nil : $0 }
      let server = known ?? ScriptedServer(seen)
      servers[line.name] = server
      do {
        try line.isSent ? server.send(line) : server.deliver(line)
      } catch {
        throw Unexpected("line \(line.number): \(line.text.prefix(300))\n\(error)")
      }
    }
  }
}

// MARK: - -->

extension ScriptedServer {
  private func send(_ line: Conversation.Line) throws {
    if line.text == "close" || line.text == "end of input" {
      return connection.ended(nil)
    }
    guard let message = line.message, message.isRequest, let method = message["method"]?.string
    else { return }
    let params = message["params"].flatMap { $0.isNull ? nil : $0 } ?? [:]
    guard let id = message["id"] else {
      guard method == "$/cancelRequest" else {
        connection.notify(method, params)
        return try expectSent(["jsonrpc": "2.0", "method": .string(method), "params": params])
      }
      guard let request = ids[params["id"]?.description ?? ""] else { return }
      connection.cancel(request)
      return try expectSent([
        "jsonrpc": "2.0", "method": "$/cancelRequest", "params": ["id": number(request)],
      ])
    }
    if open[id.description] == nil { try request(id, method, params) }
  }

  private func request(_ id: JSONValue, _ method: String, _ given: JSONValue) throws {
    var params = given
    if method == "$/cancelRequest", let request = ids[params["id"]?.description ?? ""] {
      params = params.setting("id", number(request))
    }
    if method == "session/attach", let revisions = params["revisions"]?.object {
      for (store, revision) in revisions { holdBefore(store, revision.int) }
    }
    let response = Response()
    // The callback runs before the frame after the response is handled.
    let request = connection.start(method, params) { response.result = $0 }
    try expectSent([
      "jsonrpc": "2.0", "id": number(request), "method": .string(method), "params": params,
    ])
    ids[id.description] = request
    open[id.description] = Request(method: method, params: params, response: response)
  }

  /// Gives the connection the replica that another connection had at a revision.
  private func holdBefore(_ store: String, _ revision: Int?) {
    guard let revision, replay.held[store]?.revision != revision else { return }
    if let state = replay.seen(store, revision) {
      replay.hold(store, revision, state)
      connection.replicas[ByteName(store)] = Replica(store: store, revision: revision, state: state)
    } else {
      replay.forget(store)
      connection.replicas[ByteName(store)] = nil
    }
  }

  private func expectSent(_ message: JSONValue) throws {
    let sent = connection.takeOutgoing().split(separator: UInt8(ascii: "\n"))
    try check(sent.count == 1, "\(sent.count) messages were sent")
    let value = try JSONValue(parsing: Array(sent[0]), limits: JSONLimits(maximumDepth: 512))
    try check(value == message, "\(value) in place of \(message)")
  }
}

// MARK: - <--

extension ScriptedServer {
  private func deliver(_ line: Conversation.Line) throws {
    if line.text == "close" {
      connection.ended(nil)
      for request in open.values {
        guard case .failure(let error as StatewireError) = request.response.result else {
          throw Unexpected("\(request.method) has not failed")
        }
        try check(error.code == .connectionLost, "\(error)")
      }
      open = [:]
      return
    }
    guard let message = line.message else { throw Unexpected("no message") }
    let parts = message.array ?? [message]
    let mapped = parts.map(mapped)
    let whole = message.array == nil ? mapped[0] : .array(mapped)
    try connection.received(whole.bytes)
    for (part, sent) in zip(parts, mapped) { try understood(part, sent) }
    try check(heard.notifications.isEmpty, "the client received more notifications than were sent")
    try check(connection.takeOutgoing().isEmpty, "the client has sent a message without a call")
    try check(heard.divergences.isEmpty, "the client has found a fault: \(heard.divergences)")
    try compare()
  }

  /// Replaces the ids of a message with those of the client.
  private func mapped(_ message: JSONValue) -> JSONValue {
    var mapped = message
    if let id = message["id"], !id.isNull {
      let known = open[id.description] == nil ? nil : ids[id.description]
      mapped = mapped.setting("id", known.map(number) ?? "unasked")
    }
    if let params = message["params"], let applied = params["applied"], !applied.isNull {
      let known = ids[applied.description].map(number) ?? .null
      mapped = mapped.setting("params", params.setting("applied", known))
    }
    return mapped
  }

  private func understood(_ message: JSONValue, _ sent: JSONValue) throws {
    if let method = message["method"]?.string {
      try replay.notified(method, message["params"] ?? .null)
      try check(!heard.notifications.isEmpty, "\(method) was not received")
      let heard = heard.notifications.removeFirst()
      try check(heard.method == method && heard.params == sent["params"], "\(heard) was received")
      return
    }
    if message["id"]?.isNull == true {
      guard let error = message["error"] else { return }
      try check(!heard.failures.isEmpty, "the failure was not received")
      return try compare(heard.failures.removeFirst(), error)
    }
    guard sent["id"] != "unasked" else { return }
    guard let request = open.removeValue(forKey: message["id"]?.description ?? ""),
      let received = request.response.result
    else { throw Unexpected("the response has not ended the request") }
    switch received {
    case .failure(let error):
      try compare(error, message["error"] ?? .null)
    case .success(let result):
      try check(result == message["result"], "\(result)")
      replay.understand(request.method, request.params, result)
      if request.method == "store/state" { try digests(request.params["store"], result) }
    }
  }

  private func digests(_ store: JSONValue?, _ result: JSONValue) throws {
    let digest = result["digest"]?.int
    let said = try JSON.digest(of: result["state"] ?? .null)
    try check(Int(said) == digest, "the digest of the response")
    if let store = store?.string, let replica = connection.replicas[ByteName(store)],
      replica.revision == result["revision"]?.int
    {
      let held = try JSON.digest(of: replica.state)
      try check(Int(held) == digest, "the digest of the replica")
    }
  }

  private func compare(_ error: any Error, _ expected: JSONValue) throws {
    guard let error = error as? RPCError else { throw Unexpected("\(error)") }
    try check(
      error.code.rawValue == expected["code"]?.int && error.message == expected["message"]?.string
        && error.data == expected["data"], "\(error) in place of \(expected)")
    try check(
      RPCErrorCode.described.contains { $0.code == error.code }, "\(error.code) has no name")
    try check(error.path == expected["data"]?["path"]?.string, "the path of \(error)")
  }

  private func compare() throws {
    let replicas = Dictionary(
      uniqueKeysWithValues: connection.replicas.map { ($0.key.text, $0.value) })
    try check(Set(replicas.keys) == Set(replay.held.keys), "replicas of \(replicas.keys.sorted())")
    for (store, held) in replay.held {
      let replica = replicas[store]
      try check(replica?.revision == held.revision, "\(store) is at \(replica?.revision ?? -1)")
      try check(replica?.state == held.state, "\(store) is \(replica?.state ?? .null)")
    }
  }
}

private func check(_ isRight: Bool, _ what: @autoclosure () -> String) throws {
  guard isRight else { throw Unexpected(what()) }
}

private func number(_ id: Int) -> JSONValue { .number(JSONNumber(id)) }

extension JSONValue {
  func setting(_ key: String, _ value: JSONValue) -> JSONValue {
    guard case .object(var members) = self else { return self }
    members[key] = value
    return .object(members)
  }

  /// True if a client sends such a message.
  fileprivate var isRequest: Bool {
    guard self["jsonrpc"] == "2.0", self["method"]?.string != nil else { return false }
    switch self["params"] {
    case nil, .object, .null: break
    default: return false
    }
    switch self["id"] {
    case nil, .string, .number: return true
    default: return false
    }
  }
}
