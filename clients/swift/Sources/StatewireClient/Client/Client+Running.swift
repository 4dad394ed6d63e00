// SPDX-License-Identifier: Apache-2.0

internal import ClientTransports
internal import StatewireJSON
internal import StatewireProtocol

extension Client {
  /// Connects, and reconnects until `close`. Must be called once.
  ///
  /// Cancellation closes the client.
  /// - Throws: The error that has closed the client, except after `close`.
  public func run() async throws {
    var failures = 0
    while closeReason == nil {
      let began = ContinuousClock.now
      do {
        try await connectOnce()
        // Delays keep growing while the server accepts connections and closes them immediately.
        if ContinuousClock.now - began > .seconds(1) { failures = 0 }
      } catch {
        let isFinal = isFinal(error)
        let error = reported(error)
        if isFinal || status == .connecting && !options.retriesInitialConnection { finish(error) }
      }
      if Task.isCancelled { close() }
      guard closeReason == nil else { break }
      status = .reconnecting
      signal.notify()
      let delay = options.backoff.delay(after: failures)
      failures += 1
      try? await interruptible { try await Task.sleep(for: delay) }
    }
    if let closeReason, (closeReason as? StatewireError)?.code != .clientClosed {
      throw closeReason
    }
  }

  /// Returns the error to report: the last error with id null is more specific than a lost
  /// connection.
  private func reported(_ error: any Error) -> any Error {
    let lost = error as? StatewireError
    if lost?.code == .connectionLost, let cause = lost?.cause as? RPCError { return cause }
    return error is StatewireError || error is RPCError
      ? error : StatewireError(.connectionLost, "cannot connect", cause: error)
  }

  /// Returns true for an error that a new connection would not fix.
  private func isFinal(_ error: any Error) -> Bool {
    switch error as? ClientError {
    case .unusableFile, .unusableFiles: return true
    default: break
    }
    return switch (reported(error) as? RPCError)?.code {
    case .unauthorised, .protocolVersion, .methodNotFound: true
    case .unknownSession, .expiredSession: !wasInSession
    default: false
    }
  }

  /// Runs work until it is done or the client is closed.
  private func interruptible(_ work: @escaping @Sendable () async throws -> Void) async throws {
    let (interruption, interrupt) = AsyncStream<Void>.makeStream()
    self.interrupt = interrupt
    if self.closeReason != nil { interrupt.finish() }
    defer { self.interrupt = nil }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await work() }
      group.addTask { for await _ in interruption {} }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}

// MARK: - One connection

extension Client {
  /// Connects, and returns when the connection has ended.
  ///
  /// - Throws: The error that prevented the client from attaching to the session.
  private func connectOnce() async throws {
    let wire = try await address.open(maximumMessageBytes: options.maximumMessageBytes)
    let (output, wrote) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let connection = Connection(replicas: heldReplicas, listener: listener(wrote))
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
    if status != .connected, let end = connection.end {
      throw failure as? RPCError ?? failure as? StatewireError ?? end
    }
  }

  private func serve(_ wire: ClientConnection, _ output: AsyncStream<Void>) async throws {
    let (delays, sendLater) = AsyncStream<Duration>.makeStream()
    // A child returns true if its end ends the connection.
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await self.read(wire)
        return true
      }
      group.addTask {
        // The server does not read any more, but its last messages must still be read.
        try? await self.write(wire, output)
        return false
      }
      group.addTask {
        try await self.enter(sendLater)
        try await self.monitor()
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

  /// Sends pings and verifies states until the connection ends.
  private func monitor() async throws {
    var nextVerification = options.verifyInterval.map { ContinuousClock.now + $0 }
    while let connection {
      let count = connection.receivedCount
      try await Task.sleep(for: options.pingInterval)
      if connection.receivedCount == count { _ = try await ask(connection, "ping", [:]) }
      if let due = nextVerification, let interval = options.verifyInterval,
        ContinuousClock.now >= due
      {
        nextVerification = ContinuousClock.now + interval
        for record in Array(records.values) where record.isSubscribed {
          try await verifyIfChanged(record, connection)
        }
      }
    }
  }

  private func verifyIfChanged(
    _ record: StoreRecord, _ connection: Connection
  ) async throws {
    guard let revision = record.snapshot?.revision, verified[record.number] != revision else {
      return
    }
    do {
      _ = try await ask(connection, "store/state", ["store": .string(record.name)])
      verified[record.number] = revision
    } catch is RPCError {
      // For example, the store was closed. The connection is alive.
    }
  }
}
