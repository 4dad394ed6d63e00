// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import ServerCore

/// The client at standard input and output. Carries bytes between two descriptors and a connection,
/// and enters the shard once per read.
///
/// The client started this program, so the time limits for untrusted clients do not apply.
final class StandardClient {
  private let shard: Shard
  let settings: ServerSettings
  private let loop: PollLoop
  private let input: CInt
  private let output: CInt
  private let buffer: UnsafeMutableRawBufferPointer
  private var connection: Connection?
  /// Bytes that the client has not read yet, from the offset `sent` on.
  private var pending: [UInt8] = []
  private var sent = 0
  private var outputState = OutputState.open
  /// True while a check is scheduled that the client reads the rest of the output.
  private var isWatched = false
  private var readGate: ReadGate
  /// The metrics of the connection.
  private let metrics: TransportMetrics
  /// True if the client has sent `exit` without `shutdown`.
  private(set) var hasExitedEarly = false
  private var ended: () -> Void = {}
  /// Called once, after the turn with the client's first bytes.
  var whenFirstInput: (() -> Void)?

  /// - Parameters:
  ///   - streams: The descriptors to read and write without blocking.
  ///   - shard: The owner of the sessions; `loop` is its executor.
  ///   - settings: The limits and the log.
  ///   - loop: The loop that all calls are made on.
  ///   - metrics: The metrics of the connection.
  init(
    _ streams: StandardStreams, shard: Shard, settings: ServerSettings, loop: PollLoop,
    metrics: TransportMetrics
  ) {
    self.shard = shard
    self.settings = settings
    self.loop = loop
    self.metrics = metrics
    input = streams.input
    output = streams.output
    buffer = .allocate(byteCount: Self.chunkBytes, alignment: 16)
    readGate = ReadGate(bytesPerSecond: settings.limits.bytesPerSecond, at: settings.now())
  }

  deinit { buffer.deallocate() }

  /// Starts reading; on the loop's thread, like all further calls.
  /// - Parameter ended: Called once when the connection has ended: all output was written, or the
  ///   client is gone.
  func begin(ended: @escaping () -> Void) {
    self.ended = ended
    // because this runs on the shard's executor; see `turnOnLoop`.
    nonisolated(unsafe) let client = self
    shard.assumeIsolated { shard in
      client.connection = Connection(settings: client.settings, output: client, isolation: shard)
    }
    metrics.opened()
    // Unowned, because the callbacks are disabled once the client is gone (`disconnect`).
    loop.watch(input) { [unowned self] _ in readable() }
    loop.watch(output) { [unowned self] _ in writable() }
    // The end of an effect starts a turn as well.
    loop.beforeWaiting = { [unowned self] in update() }
  }

  /// Passes an event to the connection, in one turn of the shard.
  private func notify(_ event: Connection.Event) {
    guard let connection else { return }
    notify(connection, event)
  }

  private func notify(_ connection: Connection, _ event: Connection.Event) {
    shard.turnOnLoop(with: (connection, event)) { value, shard in
      value.0.take(value.1, isolation: shard)
    }
  }

  /// Updates the wanted events and ends the connection if necessary, after turns.
  private func update() {
    guard let connection else { return }
    switch outputState {
    case .open: break
    case .ending: if pending.isEmpty { return disconnect() }
    case .ended: return disconnect()
    }
    // Reading stops while the client does not read: back-pressure, not memory.
    let canRead = !readGate.isPaced && connection.wantsBytes
    loop.setEvents(canRead ? POLLIN : 0, of: input)
    loop.setEvents(pending.isEmpty ? 0 : POLLOUT, of: output)
    if !pending.isEmpty { watchReading() }
  }

  private func disconnect() {
    guard let current = connection else { return }
    connection = nil
    metrics.closed()
    hasExitedEarly = current.hasExitedEarly
    notify(current, .disconnected)
    // The loop may outlive this object.
    loop.setEvents(0, of: input)
    loop.setEvents(0, of: output)
    loop.beforeWaiting = {}
    // The callback holds a reference to this object.
    let ended = ended
    self.ended = {}
    ended()
  }

  /// Ends the connection after its open requests have got their responses, or after a time limit.
  func finish(_ event: Connection.Event = .finish) {
    notify(event)
    watchReading()
  }

  func credentialsChanged() { notify(.credentialsChanged) }

  func expireLater() {
    guard connection?.life.isOver == false else { return }
    loop.schedule(after: ConnectionTimes.openRequests) { [weak self] in
      self?.notify(.timeIsUp)
      // The connection stays open while the client has yet to read earlier output.
      self?.expireLater()
    }
  }

  // The largest input of one turn.
  private static let chunkBytes = 64 << 10
}

// MARK: - Events of the descriptors

extension StandardClient {
  private func readable() {
    let count = Glibc.read(input, buffer.baseAddress, buffer.count)
    if count > 0 {
      pace(count)
      notify(.received(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
      whenFirstInput?()
      whenFirstInput = nil
    } else if count == 0 {
      finish(.inputEnded)
    } else if errno != EAGAIN, errno != EINTR {
      settings.logger.debug(
        "closed a connection after an error", metadata: ["error": "\(errno)"])
      outputState = .ended
    }
  }

  private func writable() {
    pending.withUnsafeBytes { bytes in
      sent += send(UnsafeRawBufferPointer(rebasing: bytes[sent...]))
    }
    if sent == pending.count {
      pending.removeAll(keepingCapacity: pending.count <= Self.chunkBytes)
      sent = 0
      notify(.caughtUp)
    }
  }

  /// - Returns: Number of bytes that were written; the rest waits.
  private func send(_ bytes: UnsafeRawBufferPointer) -> Int {
    while true {
      let count = Glibc.write(output, bytes.baseAddress, bytes.count)
      if count >= 0 { return count }
      if errno == EINTR { continue }
      if errno != EAGAIN { outputState = .ended }
      return 0
    }
  }
}

// MARK: - Output of the connection

extension StandardClient: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    guard outputState != .ended, bytes.count > 0 else { return }
    metrics.sentBytes.add(bytes.count)
    let count = pending.isEmpty ? send(bytes) : 0
    if count < bytes.count, outputState != .ended { pending.append(contentsOf: bytes[count...]) }
  }

  var isCongested: Bool { !pending.isEmpty }

  var waitingBytes: Int { pending.count - sent }

  // `update` checks it before each wait.
  func resumeReading() {}

  func yieldToOthers() {
    loop.schedule(after: .zero) { [weak self] in self?.notify(.othersServed) }
  }

  func endOutput() {
    if outputState == .open { outputState = .ending }
    watchReading()
  }

  // The process ends after the output has ended.
  func awaitInputEnd() {}

  func close() { outputState = .ended }

  /// Ends the output, although the client has not read all of it.
  func abandon() {
    if waitingBytes > 0, outputState != .ended { settings.logCutOff(connections: 1) }
    close()
  }

  /// Ends the connection if the client has read nothing for 30 seconds and cannot send any more.
  private func watchReading() {
    guard !isWatched else { return }
    isWatched = true
    let waiting = waitingBytes
    loop.schedule(after: ConnectionTimes.withoutReading) { [weak self] in
      guard let self, let connection else { return }
      isWatched = false
      // While the client can still send, the length of its pauses is not limited.
      let isOver = !connection.life.hasInput || isHungUp
      if waiting > 0, waitingBytes == waiting, isOver {
        abandon()
        return disconnect()
      }
      if isOver || !pending.isEmpty { watchReading() }
    }
  }

  /// True if no process holds the other end of the input any more. The end itself is not read while
  /// earlier input waits.
  private var isHungUp: Bool {
    var descriptor = pollfd(fd: input, events: 0, revents: 0)
    return poll(&descriptor, 1, 0) == 1 && descriptor.revents & Int16(POLLHUP) != 0
  }

  /// Pauses reading if the client has sent more than its rate allows.
  private func pace(_ count: Int) {
    metrics.receivedBytes.add(count)
    if let wait = readGate.count(count, at: settings.now()) { pace(after: wait) }
  }

  private func pace(after wait: Duration) {
    loop.schedule(after: wait) { [weak self] in
      guard let self else { return }
      if let wait = readGate.paceIsOver(at: settings.now()) { pace(after: wait) }
    }
  }

  private enum OutputState {
    case open
    /// Ends once everything written has been sent.
    case ending
    /// Nothing more is sent: the connection has closed, or the client does not read any more.
    case ended
  }
}
