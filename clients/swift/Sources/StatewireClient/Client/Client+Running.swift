// SPDX-License-Identifier: Apache-2.0

internal import ClientTransports
internal import StatewireJSON
internal import StatewireProtocol

extension Client {
  /// Connects, and stays connected until `close`; to be called once.
  ///
  /// Cancelling closes the client.
  /// - Throws: Why nothing more comes, unless the client was closed.
  public func run() async throws {
    var failures = 0
    while over == nil {
      let began = ContinuousClock.now
      do {
        try await connectOnce()
        // A server that takes connections and drops them at once is not asked faster and faster.
        if ContinuousClock.now - began > .seconds(1) { failures = 0 }
      } catch {
        let isFinal = isFinal(error)
        let error = told(error)
        if isFinal || status == .connecting && !options.isPatient { finish(error) }
      }
      if Task.isCancelled { close() }
      guard over == nil else { break }
      status = .waiting
      news.tell()
      let delay = options.backoff.delay(after: failures)
      failures += 1
      try? await interruptible { try await Task.sleep(for: delay) }
    }
    if let over, (over as? StatewireError)?.code != .left { throw over }
  }

  /// What the server has said last says more than that the connection was lost.
  private func told(_ error: any Error) -> any Error {
    let lost = error as? StatewireError
    if lost?.code == .connectionLost, let cause = lost?.cause as? RPCError { return cause }
    return error is StatewireError || error is RPCError
      ? error : StatewireError(.connectionLost, "there is no connection", cause: error)
  }

  /// Whether a new connection would not mend it.
  private func isFinal(_ error: any Error) -> Bool {
    switch error as? ClientError {
    case .unusableFile, .unusableFiles: return true
    default: break
    }
    return switch (told(error) as? RPCError)?.code {
    case .unauthorised, .protocolVersion, .methodNotFound: true
    case .unknownSession, .expiredSession: !wasInSession
    default: false
    }
  }

  /// Does some work until it is done, or until all is over.
  private func interruptible(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let (over, interrupt) = AsyncStream<Void>.makeStream()
    self.interrupt = interrupt
    if self.over != nil { interrupt.finish() }
    defer { self.interrupt = nil }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await work() }
      group.addTask { for await _ in over {} }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

// MARK: - One connection

extension Client {
  /// Connects and stays until the end.
  ///
  /// - Throws: What was wrong, if the session was not reached.
  private func connectOnce() async throws {
    let wire = try await address.open(maximumMessageBytes: options.maximumMessageBytes)
    let (output, wrote) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let connection = Connection(views: viewsHeld, listener: listener(wrote))
    self.connection = connection
    var failure: (any Error)?
    do {
      try await interruptible { try await self.serve(wire, output) }
    } catch {
      failure = error
    }
    connection.ended(failure)
    self.connection = nil
    inputs.disconnected()
    await wire.close()
    if status != .open, let end = connection.end {
      throw failure as? RPCError ?? failure as? StatewireError ?? end
    }
  }

  private func serve(_ wire: ClientConnection, _ output: AsyncStream<Void>) async throws {
    let (delays, sendLater) = AsyncStream<Duration>.makeStream()
    // Each child says whether its end is that of the connection.
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await self.read(wire)
        return true
      }
      group.addTask {
        // Nobody reads any more, but what was said before is still to be heard.
        try? await self.write(wire, output)
        return false
      }
      group.addTask {
        try await self.enter(sendLater)
        try await self.watch()
        return true
      }
      group.addTask {
        for await delay in delays {
          try await Task.sleep(for: delay)
          await self.sendRefused()
        }
        return false
      }
      defer { group.cancelAll() }
      while try await group.next() == false {}
    }
  }

  private func sendRefused() { inputs.sendRefused() }

  private func read(_ wire: ClientConnection) async throws {
    while let messages = try await wire.receiveAll() {
      for message in messages { try connection?.received(message) }
    }
  }

  private func write(_ wire: ClientConnection, _ output: AsyncStream<Void>) async throws {
    for await _ in output {
      guard let bytes = connection?.takeOutgoing() else { return }
      if !bytes.isEmpty { try await wire.send(raw: bytes) }
    }
  }

  /// Sees that the server is there and the states are right.
  private func watch() async throws {
    var nextCheck = options.checkEvery.map { ContinuousClock.now + $0 }
    while let connection {
      let count = connection.receivedCount
      try await Task.sleep(for: options.pingEvery)
      if connection.receivedCount == count { _ = try await ask(connection, "ping", [:]) }
      if let due = nextCheck, let interval = options.checkEvery, ContinuousClock.now >= due {
        nextCheck = ContinuousClock.now + interval
        for record in Array(records.values) where record.isSubscribed {
          try await compareIfChanged(record, connection)
        }
      }
    }
  }

  private func compareIfChanged(
    _ record: StoreRecord, _ connection: Connection
  ) async throws {
    guard let revision = record.look?.revision, checked[record.number] != revision else { return }
    do {
      _ = try await ask(connection, "store/state", ["store": .string(record.name)])
      checked[record.number] = revision
    } catch is RPCError {
      // Such as of a store that was closed: the connection is there.
    }
  }
}
