// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON
internal import StatewireProtocol

extension Client {
  /// Opens a store and subscribes to it. A second call with the same name returns the same store.
  ///
  /// - Parameters:
  ///   - kind: The store kind, such as `.todo`.
  ///   - name: The store's name in the session; nil uses the name of its kind.
  ///   - config: The configuration, such as `["memory": ["count": 3]]`. Nil accepts a store that is
  /// open
  ///     already, with any configuration.
  /// - Throws: `RPCError`, such as `otherConfiguration`.
  public func open<Input, State>(
    _ kind: Kind<Input, State>, name: String? = nil, config: JSONValue? = nil
  ) async throws -> RemoteStore<Input, State> {
    let record = record(named: name ?? kind.name, kind.name, config)
    record.isKept = true
    try await subscribe(to: record)
    return RemoteStore(client: self, number: record.number, name: record.name)
  }

  /// Opens a store and subscribes to it while `body` runs.
  ///
  /// The subscription ends with the last body that uses the store, unless `open` has returned it
  /// too.
  ///
  /// - Parameters:
  ///   - kind: The store kind, such as `.todo`.
  ///   - name: The store's name in the session; nil uses the name of its kind.
  ///   - config: The configuration; see `open`.
  ///   - body: The work.
  /// - Returns: The result of `body`.
  /// - Throws: The errors of `open` and of `body`.
  @discardableResult
  public nonisolated func withStore<Input, State, Value>(
    _ kind: Kind<Input, State>, name: String? = nil, config: JSONValue? = nil,
    _ body: (RemoteStore<Input, State>) async throws -> Value
  ) async throws -> Value {
    let store = try await use(kind, name ?? kind.name, config)
    do {
      let value = try await body(store)
      await release(store.number)
      return value
    } catch {
      await release(store.number)
      throw error
    }
  }

  private func use<Input, State>(
    _ kind: Kind<Input, State>, _ name: String, _ config: JSONValue?
  ) async throws -> RemoteStore<Input, State> {
    let record = record(named: name, kind.name, config)
    // Before the subscription: another user may end meanwhile.
    record.users += 1
    do {
      try await subscribe(to: record)
    } catch {
      release(record.number)
      throw error
    }
    return RemoteStore(client: self, number: record.number, name: record.name)
  }

  /// Ends the subscription with its last user.
  private func release(_ number: Int) {
    guard let record = records[number] else { return }
    record.users -= 1
    guard record.users == 0, !record.isKept else { return }
    end(record, nil)
    guard status == .connected, let connection else { return }
    _ = connection.start("store/unsubscribe", ["store": .string(record.name)]) { _ in }
  }

  private func subscribe(to record: StoreRecord) async throws {
    while !record.isSubscribed {
      let connection = try await ready()
      do {
        try await subscribe(connection, to: record)
      } catch let error as StatewireError where error.code == .connectionLost {
        continue
      } catch let error as RPCError {
        if !record.isSubscribed { end(record, error) }
        throw error
      }
    }
  }

  private func record(named name: String, _ kind: String, _ config: JSONValue?) -> StoreRecord {
    if let known = numbers[ByteName(name)].flatMap({ records[$0] }) { return known }
    lastNumber += 1
    let record = StoreRecord(number: lastNumber, name: name, kind: kind, config: config)
    records[lastNumber] = record
    numbers[ByteName(name)] = lastNumber
    return record
  }

  func subscribe(_ connection: Connection, to record: StoreRecord) async throws {
    let store = JSONValue.string(record.name)
    let kind = JSONValue.string(record.kind)
    // An observer must not open a store. `store/subscribe` fails if the store is not open.
    if let config = record.config, role != .observer {
      _ = try await ask(
        connection, "store/open", ["store": store, "kind": kind, "config": config])
    }
    record.openSubscriptions += 1
    defer { record.openSubscriptions -= 1 }
    do {
      _ = try await ask(connection, "store/subscribe", ["store": store])
    } catch let error as RPCError
      where error.code == .unknownStore && record.config == nil && role != .observer
      && record.kind != record.name
    {
      _ = try await ask(connection, "store/open", ["store": store, "kind": kind])
      _ = try await ask(connection, "store/subscribe", ["store": store])
    }
    record.isSubscribed = true
    record.held(connection.replicas[ByteName(record.name)])
  }

  /// The subscribed stores, in the order in which they were opened.
  var subscribed: [StoreRecord] {
    records.values.filter(\.isSubscribed).sorted { $0.number < $1.number }
  }

  /// The stores that `session/attach` names, in the order in which they were opened. It ends each
  /// other subscription, so these include those whose response has not arrived.
  var requested: [StoreRecord] {
    records.values.filter { $0.isSubscribed || $0.openSubscriptions > 0 }
      .sorted { $0.number < $1.number }
  }

  /// The replicas of the subscribed stores.
  var heldReplicas: [ByteName: Replica] {
    var replicas: [ByteName: Replica] = [:]
    for record in subscribed { replicas[ByteName(record.name)] = record.replica }
    return replicas
  }

  /// Ends the subscription to a store.
  func end(_ record: StoreRecord, _ error: (any Error)?) {
    guard records.removeValue(forKey: record.number) != nil else { return }
    numbers[ByteName(record.name)] = nil
    verified[record.number] = nil
    record.end(error)
  }

  /// Ends the subscription to a store that was closed at the server.
  func close(_ record: StoreRecord) {
    end(record, StatewireError(.storeClosed, "the store is closed"))
  }
}

// MARK: - Connection callbacks

extension Client {
  func listener(_ wrote: AsyncStream<Void>.Continuation) -> Connection.Listener {
    Connection.Listener(
      notified: { self.notified($0, $1) },
      diverged: { self.diverged($0, $1) },
      wrote: { wrote.yield() })
  }

  private func record(_ params: JSONValue) -> StoreRecord? {
    params["store"]?.string.flatMap { numbers[ByteName($0)] }.flatMap { records[$0] }
  }

  private func notified(_ method: String, _ params: JSONValue) {
    switch method {
    case "store/changed":
      record(params)?.changed(applied: params["applied"]?.int)
    case "store/event":
      if let event = params["event"] { record(params)?.events.send(event) }
    case "store/closed":
      if let record = record(params) { close(record) }
    default:
      notificationBroadcast.send(Notification(method: method, params: params))
      if method == "session/closed", params["session"]?.string == session {
        let isEvicted = params["reason"]?.string == SessionClosed.Reason.evicted.rawValue
        finish(
          isEvicted
            ? StatewireError(.evicted, "another connection has attached with this frontend's name")
            : StatewireError(.sessionClosed, "a client has closed the session"))
      }
    }
  }

  /// Requests the whole state of a store whose replica has diverged.
  private func diverged(_ replica: Replica, _ divergence: Divergence) {
    guard let record = numbers[ByteName(replica.store)].flatMap({ records[$0] }), let connection
    else { return }
    record.resyncs[divergence, default: 0] += 1
    connection.start("store/subscribe", ["store": .string(replica.store)]) { result in
      switch result {
      case .success: record.held(connection.replicas[ByteName(replica.store)])
      case .failure(let error as RPCError) where error.code == .storeClosed: self.close(record)
      case .failure(let error as RPCError): self.end(record, error)
      // If the connection is lost, the next one attaches without this revision.
      case .failure: break
      }
    }
  }
}
