// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON
internal import StatewireProtocol

extension Client {
  /// Opens a store and subscribes to it; the same once more for the same name.
  ///
  /// - Parameters:
  ///   - kind: The kind, such as `.todo`.
  ///   - name: The store's name in the session; nil: that of its kind.
  ///   - config: Its configuration, such as `["memory": ["count": 3]]`. Without one the store may be
  ///     open already with any, if its name is another one than its kind's.
  /// - Throws: `RPCError`, such as `otherConfiguration`.
  public func open<Input, State>(
    _ kind: Kind<Input, State>, as name: String? = nil, config: JSONValue? = nil
  ) async throws -> RemoteStore<Input, State> {
    let record = record(named: name ?? kind.name, kind.name, config)
    while !record.isSubscribed {
      let connection = try await ready()
      do {
        try await subscribe(connection, to: record)
      } catch let error as StatewireError where error.code == .connectionLost {
        continue
      } catch {
        if !record.isSubscribed { end(record, error) }
        throw error
      }
    }
    return RemoteStore(client: self, number: record.number, name: record.name)
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
    // An observer opens nothing; what is not open yet is refused when it subscribes.
    if let config = record.config, role != .observer {
      _ = try await ask(
        connection, "store/open", ["store": store, "kind": kind, "config": config])
    }
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
    record.held(connection.views[ByteName(record.name)])
  }

  /// All stores whose changes are wanted, in the order in which they were opened.
  var subscribed: [StoreRecord] {
    records.values.filter(\.isSubscribed).sorted { $0.number < $1.number }
  }

  /// What is held of them.
  var viewsHeld: [ByteName: View] {
    var views: [ByteName: View] = [:]
    for record in subscribed { views[ByteName(record.name)] = record.view }
    return views
  }

  /// Nothing more comes of a store.
  func end(_ record: StoreRecord, _ error: (any Error)?) {
    guard records.removeValue(forKey: record.number) != nil else { return }
    numbers[ByteName(record.name)] = nil
    checked[record.number] = nil
    record.end(error)
  }

  /// The store was closed by somebody.
  func close(_ record: StoreRecord) {
    end(record, StatewireError(.storeClosed, "the store was closed"))
  }
}

// MARK: - What a connection tells

extension Client {
  func listener(_ wrote: AsyncStream<Void>.Continuation) -> Connection.Listener {
    Connection.Listener(
      notified: { self.notified($0, $1) },
      faulty: { self.faulty($0, $1) },
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
      if let event = params["event"] { record(params)?.events.tell(event) }
    case "store/closed":
      if let record = record(params) { close(record) }
    default:
      notifications.tell(Notification(method: method, params: params))
      if method == "session/closed", params["session"]?.string == session {
        let isEvicted = params["reason"]?.string == SessionClosed.Reason.evicted.rawValue
        finish(
          isEvicted
            ? StatewireError(.evicted, "another connection has taken this frontend's name")
            : StatewireError(.sessionClosed, "the session was closed"))
      }
    }
  }

  /// A state is not the server's: it is asked for anew, and frames go on from there.
  private func faulty(_ view: View, _ fault: Fault) {
    guard let record = numbers[ByteName(view.store)].flatMap({ records[$0] }), let connection
    else { return }
    record.resynchronisations[fault, default: 0] += 1
    connection.start("store/subscribe", ["store": .string(view.store)]) { answer in
      switch answer {
      case .success: record.held(connection.views[ByteName(view.store)])
      case .failure(let error as RPCError) where error.code == .storeClosed: self.close(record)
      case .failure(let error as RPCError): self.end(record, error)
      // The next connection attaches without this revision.
      case .failure: break
      }
    }
  }
}
