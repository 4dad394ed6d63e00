// SPDX-License-Identifier: Apache-2.0

import Logging
import Sessions
import StatewireJSON
import StatewireProtocol
import Testing

@testable import ServerCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A client on an in-memory connection: it sends messages and records the writes that it receives.
final class TestClient: ConnectionOutput {
  let world: World
  let framing: Framing
  private(set) var connection: Connection?

  /// The writes, one element for each.
  private(set) var writes: [[UInt8]] = []
  private(set) var isClosed = false
  /// True if the connection was closed without the pending bytes.
  private(set) var isAbandoned = false
  /// True while the client does not read.
  var isCongested = false
  private(set) var waitingBytes = 0
  /// The number of requests to resume reading.
  private(set) var wantedAgain = 0
  /// True after the connection has requested a time limit for its open requests.
  private(set) var expires = false
  /// True while the connection waits for other clients to be served.
  private(set) var isYieldingToOthers = false
  /// Called during each write.
  var writing: (() -> Void)?

  /// True if every identity has reached its limit of connections.
  var isIdentityFull = false
  /// The identities that were admitted.
  private(set) var admitted: [Identity] = []

  private var unread: [UInt8] = []

  init(
    _ world: World = World(), _ framing: Framing = .lines, limits: ServerLimits = .init(),
    credentials: Credentials? = nil, isWebSocket: Bool = false,
    logger: Logger = Logger(label: "tests"), now: (@Sendable () -> ContinuousClock.Instant)? = nil
  ) {
    // The clock stands still unless a test moves it, so one turn handles all messages of a chunk.
    let start = ContinuousClock.now
    self.world = world
    self.framing = framing
    let settings = ServerSettings(
      limits: limits, logger: logger, program: .init(name: "tests", version: "0"),
      credentials: credentials, now: now ?? { start })
    // because the test is the loop: nothing else runs on the shard.
    nonisolated(unsafe) let client = self
    world.shard.assumeIsolated { shard in
      client.connection = Connection(
        settings: settings, output: client, isWebSocket: isWebSocket, isolation: shard)
    }
  }

  deinit { tell(.disconnected) }

  var identity: Identity? { connection?.identity }
  var isAuthorised: Bool { connection?.isAuthorised ?? false }
  var hasTemplate: Bool { connection?.templates.current != nil }
  var templateMisses: UInt8 { connection?.templates.misses ?? 0 }
  func forgetTemplate() {
    connection?.templates = RequestTemplates()
  }
  var messageCount: UInt32 { connection?.messageCount ?? 0 }
  var isIdle: Bool { connection?.isIdle ?? true }

  var wantsBytes: Bool { connection?.wantsBytes ?? false }
  var hasOpenResponses: Bool { connection?.hasOpenResponses ?? false }

  /// Passes an event to the connection, in a turn of the loop.
  func tell(_ event: Connection.Event) {
    guard let current = connection else { return }
    // because the test is the loop: nothing else runs on the shard.
    nonisolated(unsafe) let (connection, event) = (current, event)
    world.shard.assumeIsolated { shard in
      shard.turn { connection.take(event, isolation: shard) }
    }
  }
}

// MARK: - Sending

extension TestClient {
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

  /// Continues the connection, after other clients were served.
  func continueWork() {
    #expect(isYieldingToOthers)
    isYieldingToOthers = false
    tell(.othersServed)
  }

  /// Continues the connection until it does not yield any more.
  func continueUntilIdle() {
    while isYieldingToOthers { continueWork() }
  }

  /// Reads the pending bytes.
  func catchUp() {
    isCongested = false
    waitingBytes = 0
    tell(.caughtUp)
  }
}

// MARK: - Receiving

extension TestClient {
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
    #expect(!isYieldingToOthers, "yielded twice")
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

  /// Returns the messages that arrived since the last call.
  func takeMessages() -> [String] {
    world.commit()
    var rest = unread[...]
    defer { unread = Array(rest) }
    var messages: [String] = []
    while !rest.isEmpty {
      guard let message = takeMessage(&rest) else {
        // The rest of a large message arrives when the client reads again, or after other clients
        // were served.
        if connection?.isCongested == true || isYieldingToOthers { break }
        Issue.record("not framed: \(String(decoding: rest, as: UTF8.self))")
        rest = []
        break
      }
      messages.append(String(decoding: message, as: UTF8.self))
    }
    return messages
  }

  /// Forgets the bytes of an incomplete message.
  func discardReceived() { unread = [] }

  private func takeMessage(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    switch framing {
    case .lines:
      // A search in generic code is slow in a debug build.
      let length: Int? = rest.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return nil }
        return memchr(start, 0x0A, bytes.count).map { UnsafeRawPointer(start).distance(to: $0) }
      }
      guard let length else { return nil }
      defer { rest = rest[(rest.startIndex + length + 1)...] }
      return rest[..<(rest.startIndex + length)]
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

  /// Turns the loop until `count` messages have arrived, and returns all that have. Other clients
  /// are served when the connection yields.
  /// - Throws: `CancellationError` if the test's time limit has passed.
  func messages(_ count: Int) async throws -> [String] {
    var messages = takeMessages()
    while messages.count < count {
      if isYieldingToOthers { continueWork() } else { try await world.loop.turn() }
      messages += takeMessages()
    }
    world.loop.runAll()
    return messages + takeMessages()
  }

  /// Checks that the next messages are exactly these, apart from the texts of errors.
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

  /// Checks that no message has arrived.
  func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) {
    world.loop.runAll()
    #expect(takeMessages() == [], sourceLocation: sourceLocation)
  }
}
