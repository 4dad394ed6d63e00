// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

extension Client {
  /// Sends `initialize`, opens the session or attaches to it, and sends pending inputs.
  ///
  /// - Parameter sendLater: Receives the delays after which temporarily refused inputs are sent
  ///   again.
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
        // The session has expired. The new one gets the same stores.
        inputs.sessionWasLost()
        try await openSession(connection)
        try await subscribe(connection, to: subscribed)
      }
    }
    if wasInSession { reconnects += 1 }
    wasInSession = true
    guard closeReason == nil, connection.end == nil else { return }
    status = .connected
    if phase != enteredPhase { notifyPhase(connection) }
    inputs.connected(connection, accepted: accepted) { sendLater.yield($0) }
    signal.notify()
  }

  private func openSession(_ connection: Connection) async throws {
    let result = try await enter(
      connection, "session/open", ["frontend": .string(frontend)])
    session = result["session"]?.string
  }

  /// Attaches to the session with all stores.
  ///
  /// - Returns: The last sequence number that the session has accepted from this frontend.
  func attach(_ connection: Connection) async throws -> Int? {
    let records = requested
    var revisions = JSONObject()
    for record in records {
      let replica = connection.replicas[ByteName(record.name)]
      revisions[record.name] =
        replica.flatMap { $0.hasDiverged ? nil : .number(JSONNumber($0.revision)) } ?? .null
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
          record.held(connection.replicas[ByteName(record.name)])
        }
      }
    } catch let error as RPCError
      where !records.isEmpty && (error.code == .unknownStore || error.extent == .longest)
    {
      // At least one store does not exist, or there are too many for a frame. Each is subscribed to
      // separately.
      params.set("revisions", to: [:])
      let records = requested
      result = try await enter(connection, "session/attach", params)
      try await subscribe(connection, to: records)
    }
    return result["sequence"]?.int
  }

  /// Sends `session/open` or `session/attach`.
  ///
  /// Attaching makes a frontend active. An inactive one says so without waiting for the response.
  private func enter(
    _ connection: Connection, _ method: String, _ params: JSONValue
  ) async throws -> JSONValue {
    let promise = Promise<JSONValue>()
    let id = connection.start(method, params) { promise.resolve($0) }
    enteredPhase = phase
    if phase == .inactive { notifyPhase(connection) }
    return try await response(promise, to: id, on: connection, method)
  }

  private func notifyPhase(_ connection: Connection) {
    connection.notify("frontend/lifecycle", ["phase": .string(phase.rawValue)])
  }

  /// Subscribes to stores one by one, and ends those that the server refuses.
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
