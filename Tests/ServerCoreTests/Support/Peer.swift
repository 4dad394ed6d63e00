// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import StatewireProtocol
import Testing

@testable import ServerCore

/// The far end of a connection in memory: what a peer sends, and what it gets.
final class Peer: ConnectionOutput {
  let world: World
  let framing: Framing
  private(set) var connection: Connection?

  /// What was written, one element for each write.
  private(set) var writes: [[UInt8]] = []
  private(set) var isClosed = false
  /// Whether it was closed with what had not gone out.
  private(set) var isAbandoned = false
  /// Whether the peer has stopped reading.
  var isCongested = false
  private(set) var waitingBytes = 0
  /// How often bytes that were left unread were wanted again.
  private(set) var wantedAgain = 0
  /// Whether what it has asked for is given a time.
  private(set) var expires = false
  /// Whether others are to be heard before this peer's connection goes on.
  private(set) var isYieldingToOthers = false
  /// Called in the middle of each write.
  var writing: (() -> Void)?

  /// Whether each identity has as many connections as it may have.
  var isIdentityFull = false
  /// Whose connection it is.
  private(set) var admitted: [Identity] = []

  private var unread: [UInt8] = []

  init(
    _ world: World = World(), _ framing: Framing = .lines, limits: ServerLimits = .init(),
    credentials: Credentials? = nil, isWebSocket: Bool = false,
    now: (@Sendable () -> ContinuousClock.Instant)? = nil
  ) {
    // It stands still unless a test moves it: what is sent together is worked on together.
    let start = ContinuousClock.now
    self.world = world
    self.framing = framing
    let settings = ServerSettings(
      limits: limits, program: .init(name: "tests", version: "0"), credentials: credentials,
      now: now ?? { start })
    // because the test is the loop: nothing else is on the shard meanwhile.
    nonisolated(unsafe) let peer = self
    world.shard.assumeIsolated { shard in
      peer.connection = Connection(
        settings: settings, output: peer, isWebSocket: isWebSocket, isolation: shard)
    }
  }

  deinit { tell(.disconnected) }

  var identity: Identity? { connection?.identity }
  var isAuthorised: Bool { connection?.isAuthorised ?? false }
  var hasTemplate: Bool { connection?.templates.current != nil }
  var shapeMisses: UInt8 { connection?.templates.misses ?? 0 }
  func forgetTemplate() {
    connection?.templates = RequestTemplates()
  }
  var messageCount: UInt32 { connection?.messageCount ?? 0 }
  var isIdle: Bool { connection?.isIdle ?? true }

  var wantsBytes: Bool { connection?.wantsBytes ?? false }
  var hasOpenResponses: Bool { connection?.hasOpenResponses ?? false }

  /// Tells the connection what has happened, in a turn of the loop.
  func tell(_ event: Connection.Event) {
    guard let current = connection else { return }
    // because the test is the loop: nothing else is on the shard meanwhile.
    nonisolated(unsafe) let (connection, event) = (current, event)
    world.shard.assumeIsolated { shard in
      shard.turn { connection.take(event, isolation: shard) }
    }
  }
}

// MARK: - What the peer sends

extension Peer {
  /// Sends messages in one chunk.
  func send(_ messages: String...) { send(bytes: bytes(of: messages)) }

  /// Sends bytes in one chunk.
  func send(bytes: [UInt8]) {
    bytes.withUnsafeBytes { tell(.received($0)) }
  }

  /// Sends messages one byte at a time.
  func sendByteByByte(_ messages: [String]) {
    for byte in bytes(of: messages) { send(bytes: [byte]) }
  }

  func bytes(of messages: [String]) -> [UInt8] {
    messages.flatMap { message in
      switch framing {
      case .lines: Array((message + "\n").utf8)
      case .headers: Array("Content-Length: \(message.utf8.count)\r\n\r\n\(message)".utf8)
      }
    }
  }

  /// Lets the connection go on, now that others have been heard.
  func goOn() {
    #expect(isYieldingToOthers)
    isYieldingToOthers = false
    tell(.othersServed)
  }

  /// Lets the connection go on until others need not be heard any more.
  func goOnToTheEnd() {
    while isYieldingToOthers { goOn() }
  }

  /// Reads what it was slow to read.
  func catchUp() {
    isCongested = false
    waitingBytes = 0
    tell(.caughtUp)
  }
}

// MARK: - What the peer gets

extension Peer {
  func write(_ bytes: UnsafeRawBufferPointer) {
    #expect(!isClosed, "written after the end")
    writes.append(Array(bytes))
    unread += bytes
    if isCongested { waitingBytes += bytes.count }
    writing?()
  }

  func resumeReading() { wantedAgain += 1 }

  func expireLater() { expires = true }

  func yieldToOthers() {
    #expect(!isYieldingToOthers, "asked for twice")
    isYieldingToOthers = true
  }

  func admit(_ identity: Identity) -> Bool {
    guard !isIdentityFull else { return false }
    admitted.append(identity)
    return true
  }

  func endOutput() {
    #expect(!isClosed, "closed twice")
    isClosed = true
  }

  func awaitInputEnd() {}

  func close() {
    endOutput()
    isAbandoned = true
  }

  /// The messages that have come since the last time.
  func takeMessages() -> [String] {
    world.commit()
    var rest = unread[...]
    defer { unread = Array(rest) }
    var messages: [String] = []
    while !rest.isEmpty {
      guard let message = takeMessage(&rest) else {
        // The rest of a large frame comes when it reads again, or when others have been heard.
        if connection?.isCongested == true || isYieldingToOthers { break }
        Issue.record("not framed: \(String(decoding: rest, as: UTF8.self))")
        rest = []
        break
      }
      messages.append(String(decoding: message, as: UTF8.self))
    }
    return messages
  }

  private func takeMessage(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    switch framing {
    case .lines:
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[..<end]
    case .headers:
      let name = Array("Content-Length: ".utf8)
      guard rest.starts(with: name) else { return nil }
      let digits = rest.dropFirst(name.count).prefix { (0x30...0x39).contains($0) }
      let end = Array("\r\n\r\n".utf8)
      guard let count = Int(String(decoding: digits, as: UTF8.self)),
        rest[digits.endIndex...].starts(with: end)
      else { return nil }
      let body = rest[(digits.endIndex + end.count)...]
      guard body.count >= count else { return nil }
      rest = body.dropFirst(count)
      return body.prefix(count)
    }
  }

  /// Turns the loop until a number of messages has come, and takes them; others are heard when that is asked for.
  /// - Throws: `CancellationError` when the test's time is up.
  func messages(_ count: Int) async throws -> [String] {
    var messages = takeMessages()
    while messages.count < count {
      if isYieldingToOthers { goOn() } else { try await world.loop.turn() }
      messages += takeMessages()
    }
    world.loop.runAll()
    return messages + takeMessages()
  }

  /// Checks that exactly these messages come next; texts of errors are free.
  func expect(
    _ expected: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await expect(all: expected, sourceLocation: sourceLocation)
  }

  func expect(
    all expected: [String], _ comment: String = "",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let actual = try await messages(expected.count).map { try Message($0) }
    let wanted = try expected.map { try Message(expected: $0) }
    #expect(actual == wanted, "\(comment)", sourceLocation: sourceLocation)
  }

  /// Checks that nothing has come.
  func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
    world.loop.runAll()
    #expect(takeMessages() == [], sourceLocation: sourceLocation)
  }
}
