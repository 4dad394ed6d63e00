// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

extension Client {
  /// Shows who this is, enters the session, and sends what is not answered.
  ///
  /// - Parameter sendLater: Takes how long to wait before inputs are sent again that were refused for
  ///   the moment.
  func enter(_ sendLater: AsyncStream<Duration>.Continuation) async throws {
    guard let connection else { return }
    var hello: JSONValue = [
      "protocolVersion": .string(Initialize.supportedVersions[0]),
      "client": ["name": .string(options.name)],
    ]
    if let token = options.token { hello.set("token", to: .string(token.text)) }
    _ = try await ask(connection, "initialize", hello)
    var accepted: Int?
    if session == nil {
      try await openSession(connection)
    } else {
      do {
        accepted = try await attach(connection)
      } catch let error as RPCError
        where wasInSession && [.unknownSession, .expiredSession].contains(error.code)
      {
        // The session is gone; a new one gets the same stores.
        inputs.sessionWasLost()
        try await openSession(connection)
        try await subscribe(connection, to: subscribed)
      }
    }
    if wasInSession { resumptions += 1 }
    wasInSession = true
    guard over == nil, connection.end == nil else { return }
    status = .open
    inputs.connected(connection, accepted: accepted) { sendLater.yield($0) }
    news.tell()
  }

  private func openSession(_ connection: Connection) async throws {
    let result = try await enter(
      connection, "session/open", ["frontend": .string(frontend)])
    session = result["session"]?.string
  }

  /// Enters the session, with all stores.
  ///
  /// - Returns: The last number that the session has accepted from this frontend.
  func attach(_ connection: Connection) async throws -> Int? {
    let records = subscribed
    var revisions = JSONObject()
    for record in records {
      let view = connection.views[ByteName(record.name)]
      revisions[record.name] =
        view.flatMap { $0.isFaulty ? nil : .number(JSONNumber($0.revision)) } ?? .null
    }
    var params: JSONValue = [
      "session": session.map { .string($0) } ?? .null, "frontend": .string(frontend),
      "role": .string(role.rawValue), "revisions": .object(revisions),
    ]
    let result: JSONValue
    do {
      result = try await enter(connection, "session/attach", params)
      for record in records {
        if result["stores"]?[record.name]?["closed"] != nil {
          close(record)
        } else {
          record.held(connection.views[ByteName(record.name)])
        }
      }
    } catch let error as RPCError
      where !records.isEmpty && (error.code == .unknownStore || error.extent == .longest)
    {
      // One of them does not exist here; which, is found out one by one. Or they are too many for a frame.
      params.set("revisions", to: [:])
      result = try await enter(connection, "session/attach", params)
      try await subscribe(connection, to: records)
    }
    return result["sequence"]?.int
  }

  /// Who enters a session is looked at, unless it says in the same breath that it is not.
  private func enter(
    _ connection: Connection, _ method: String, _ params: JSONValue
  ) async throws -> JSONValue {
    let promise = Promise<JSONValue>()
    let id = connection.start(method, params) { promise.resolve($0) }
    if phase == .inactive {
      connection.notify("frontend/lifecycle", ["phase": .string(phase.rawValue)])
    }
    return try await answer(promise, to: id, on: connection, method)
  }

  /// Subscribes to stores one by one; those that are refused have ended.
  private func subscribe(_ connection: Connection, to records: [StoreRecord]) async throws {
    for record in records {
      do {
        try await subscribe(connection, to: record)
      } catch let error as RPCError {
        end(record, error)
      }
    }
  }
}

extension JSONValue {
  /// Sets a member of an object.
  fileprivate mutating func set(_ key: String, to value: JSONValue) {
    guard case .object(var members) = self else { return }
    members[key] = value
    self = .object(members)
  }
}
