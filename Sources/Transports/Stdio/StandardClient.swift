// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging
internal import ServerCore

/// The peer at standard input and output: carries bytes between two descriptors and a connection,
/// entering the shard once per read.
///
/// It is whoever has started this program, so that nothing of what strangers may not do counts here.
final class StandardClient {
  private let shard: Shard
  private let settings: ServerSettings
  private let loop: PollLoop
  private let input: CInt
  private let output: CInt
  private let buffer: UnsafeMutableRawBufferPointer
  private var connection: Connection?
  /// What the peer has not read yet, from `sent` on.
  private var pending: [UInt8] = []
  private var sent = 0
  private var outputState = OutputState.open
  /// Whether it is looked after that what is left is read.
  private var isWatched = false
  private var readGate: ReadGate
  /// The client has sent `exit` without `shutdown`.
  private(set) var hasExitedEarly = false
  private var ended: () -> Void = {}
  /// Called once, after the turn in which the client's first bytes have come.
  var whenHeard: (() -> Void)?

  /// - Parameters:
  ///   - streams: What to read and write without waiting.
  ///   - shard: The owner of the sessions; `loop` is its executor.
  ///   - settings: The limits and the log.
  ///   - loop: Where all of this happens.
  init(_ streams: StandardStreams, shard: Shard, settings: ServerSettings, loop: PollLoop) {
    self.shard = shard
    self.settings = settings
    self.loop = loop
    input = streams.input
    output = streams.output
    buffer = .allocate(byteCount: Self.chunkBytes, alignment: 16)
    readGate = ReadGate(bytesPerSecond: settings.limits.bytesPerSecond, at: settings.now())
  }

  deinit { buffer.deallocate() }

  /// Begins to read; on the loop's thread, as all that follows.
  /// - Parameter ended: Told when the peer is gone and everything written has gone out.
  func begin(ended: @escaping () -> Void) {
    self.ended = ended
    // because this runs on the shard's executor; see `tell`.
    nonisolated(unsafe) let peer = self
    shard.assumeIsolated { shard in
      peer.connection = Connection(settings: peer.settings, output: peer, isolation: shard)
    }
    // Unowned, because nothing of this is wanted any more once the peer is gone (`disconnect`).
    loop.watch(input) { [unowned self] _ in readable() }
    loop.watch(output) { [unowned self] _ in writable() }
    // Turns begin with the ends of effects too.
    loop.beforeWaiting = { [unowned self] in look() }
  }

  /// Tells the connection, as one turn of the shard.
  private func tell(_ event: Connection.Event) {
    guard let current = connection else { return }
    // because the loop is the shard's executor, which `assumeIsolated` checks, nothing is sent
    // anywhere; the compiler cannot know that the two are the same.
    nonisolated(unsafe) let (connection, event) = (current, event)
    shard.assumeIsolated { shard in
      shard.turn { connection.take(event, isolation: shard) }
    }
  }

  /// Does what turns have made necessary and could not do themselves.
  private func look() {
    guard let connection else { return }
    switch outputState {
    case .open: break
    case .ending: if pending.isEmpty { return disconnect() }
    case .ended: return disconnect()
    }
    // Reading stops while the peer does not read: back-pressure, not memory.
    let canRead = !readGate.isPaced && connection.wantsBytes
    loop.want(canRead ? POLLIN : 0, of: input)
    loop.want(pending.isEmpty ? 0 : POLLOUT, of: output)
    if !pending.isEmpty { watchReading() }
  }

  private func disconnect() {
    guard let current = connection else { return }
    connection = nil
    hasExitedEarly = current.hasExitedEarly
    // because this runs on the shard's executor; see `tell`.
    nonisolated(unsafe) let connection = current
    shard.assumeIsolated { shard in
      shard.turn { connection.take(.disconnected, isolation: shard) }
    }
    // The loop may outlive this.
    loop.want(0, of: input)
    loop.want(0, of: output)
    loop.beforeWaiting = {}
    // Whoever is told holds this.
    let ended = ended
    self.ended = {}
    ended()
  }

  /// Ends the connection once what it has asked for has been answered, or time has run out.
  func finish(_ event: Connection.Event = .finish) {
    tell(event)
    watchReading()
  }

  func credentialsChanged() { tell(.credentialsChanged) }

  func expireLater() {
    guard connection?.life.isOver == false else { return }
    loop.schedule(after: Self.timeForOpenAnswers) { [weak self] in
      self?.tell(.timeIsUp)
      // Still open: the peer has yet to read what comes before.
      self?.expireLater()
    }
  }

  // As much as one turn works on.
  private static let chunkBytes = 64 << 10
  // What is asked for before the end of input gets this long.
  private static let timeForOpenAnswers = Duration.seconds(3)
  // A peer that is to read what is left may pause this long.
  private static let timeWithoutReading = Duration.seconds(30)
}

// MARK: - What the descriptors say

extension StandardClient {
  private func readable() {
    let count = Glibc.read(input, buffer.baseAddress, buffer.count)
    if count > 0 {
      pace(count)
      tell(.received(UnsafeRawBufferPointer(rebasing: buffer[..<count])))
      whenHeard?()
      whenHeard = nil
    } else if count == 0 {
      finish(.inputEnded)
    } else if errno != EAGAIN, errno != EINTR {
      settings.logger.debug("a connection broke", metadata: ["error": "\(errno)"])
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
      tell(.caughtUp)
    }
  }

  /// - Returns: How many bytes have gone out; the rest waits.
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

// MARK: - What the connection says

extension StandardClient: ConnectionOutput {
  func write(_ bytes: UnsafeRawBufferPointer) {
    guard outputState != .ended, bytes.count > 0 else { return }
    let count = pending.isEmpty ? send(bytes) : 0
    if count < bytes.count, outputState != .ended { pending.append(contentsOf: bytes[count...]) }
  }

  var isCongested: Bool { !pending.isEmpty }

  var waitingBytes: Int { pending.count - sent }

  // It is looked at before each wait.
  func resumeReading() {}

  func yieldToOthers() {
    loop.schedule(after: .zero) { [weak self] in self?.tell(.othersServed) }
  }

  func endOutput() {
    if outputState == .open { outputState = .ending }
    watchReading()
  }

  // The end of the output ends the process.
  func awaitInputEnd() {}

  func close() { outputState = .ended }

  /// Ends the connection when the peer has read nothing for a while.
  private func watchReading() {
    guard !isWatched else { return }
    isWatched = true
    let waiting = waitingBytes
    loop.schedule(after: Self.timeWithoutReading) { [weak self] in
      guard let self, let connection else { return }
      isWatched = false
      // As long as it could say something, it may pause as long as it likes.
      let isOver = !connection.life.hasInput || isHungUp
      if waiting > 0, waitingBytes == waiting, isOver { return disconnect() }
      if isOver || !pending.isEmpty { watchReading() }
    }
  }

  /// Whether nobody has the other end of the input any more; its end is not read as long as what came
  /// before waits.
  private var isHungUp: Bool {
    var descriptor = pollfd(fd: input, events: 0, revents: 0)
    return poll(&descriptor, 1, 0) == 1 && descriptor.revents & Int16(POLLHUP) != 0
  }

  /// Reads no more for a while if more has come than is to be read in this time.
  private func pace(_ count: Int) {
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
    /// It ends once everything written has been sent.
    case ending
    /// Nothing more is sent, or the client does not read any more.
    case ended
  }
}
