// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StateMachines
internal import StatewireJSON

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The thread of a program: starts the process, passes messages in both directions, and restarts the
/// process when it fails.
///
/// The stores are in `ProgramLoop+Stores`, the messages of the process in `ProgramLoop+Messages`.
final class ProgramLoop {
  enum Phase {
    /// The process has been asked to describe itself.
    case starting
    case running
    /// The process has failed, and is started at a time.
    case waiting(until: ContinuousClock.Instant)
    /// The process responds to its last requests, and the successor then replaces it.
    case ending(ProgramDescription)
  }

  /// A process of changed files that has been asked to describe itself.
  struct Successor {
    let streams: ProgramStreams
    let deadline: ContinuousClock.Instant
    var lastError: String?
  }

  typealias Request = OpenRequests.Request

  let kind: String
  private(set) var command: ProgramCommand
  private let mailbox: ProgramMailbox
  private let busy: (@Sendable () -> @Sendable () -> Void)?
  /// True if the stores are under test.
  var isTest: Bool { busy != nil }
  private let described: @Sendable (ProgramDescription?, String?) -> Void
  let log: @Sendable (StoreProgram.LogEntry) -> Void

  var process: ProgramStreams?
  /// The next version of the program, which replaces the process.
  var successor: Successor?
  var files: WatchedFolder?
  var nextLook = ContinuousClock.now
  /// True if files have changed while the process was starting.
  var changesAgain = false
  var phase = Phase.waiting(until: .now)
  private var isClosed = false
  /// True if the server ends, and no store is opened any more.
  var isStopping = false
  /// True if the last start has failed. The next one probably fails, too, so stores do not wait for it.
  var hasFailedToStart = false
  private(set) var description = ProgramDescription.unknown
  /// The failures since the process last ran for a while.
  var failures = 0
  var startedAt = ContinuousClock.now
  private var lastProblem: String?
  /// The reason why the program, or its changed version, does not run; nil if the current files run.
  private(set) var problem: String?
  /// The last line of the standard error of the process, the probable reason if it ends now, and the
  /// last request before it.
  private var lastErrorLine: (text: String, request: Int)?

  var requests = ProgramRequests()
  private(set) var open = OpenRequests()

  var instances: [Int: ProgramInstance] = [:]
  /// The messages that wait until the process has described itself.
  var early: [ProgramCommandMessage] = []
  /// The work that runs: the id of its request.
  var works: [Int: Int] = [:]
  /// The viewers of stores that have not begun.
  var earlyViewers: [Int: [Viewer]] = [:]
  /// The stores that are to be restored in this process, and the number of those that are being
  /// restored.
  var unrestored: [Int] = []
  var restoring = 0
  static let maximumRestoring = 64
  /// The most bytes that wait for the process when a further store is restored.
  static let maximumRestoringBytes = 8 << 20
  var workGate = WorkGate.open

  /// Limits the lines of the process in the log.
  private let lines = TokenBucket(perSecond: 20, at: .now)
  /// Limits the notes about lines that are dropped.
  private let dropNotes = TokenBucket(perSecond: 1, at: .now)
  /// Limits the failures in the log. A long traceback of the process does not use them up.
  private let failureLines = TokenBucket(perSecond: 20, at: .now)
  /// Limits the messages of the process that belong to no work. Each process begins without debt.
  var unsolicitedMessages = ProgramLoop.unsolicitedLimit()
  private var replies = ReplyBatch()

  init(
    kind: String, _ command: ProgramCommand, _ mailbox: ProgramMailbox,
    busy: (@Sendable () -> @Sendable () -> Void)?,
    described: @escaping @Sendable (ProgramDescription?, String?) -> Void,
    log: @escaping @Sendable (StoreProgram.LogEntry) -> Void
  ) {
    (self.kind, self.command, self.mailbox, self.busy) = (kind, command, mailbox, busy)
    (self.described, self.log) = (described, log)
    if command.isWatched { files = WatchedFolder(of: command) }
    reportFiles()
  }

  /// Runs until the mailbox is closed.
  func run() {
    while !isClosed {
      if case .waiting(let time) = phase, time <= .now { start() }
      send()
      let items = wait()
      successor?.streams.note(items)
      let (messages, isClosed) = items[0].revents != 0 ? mailbox.take() : ([], false)
      self.isClosed = isClosed
      for (message, ended) in messages {
        take(message)
        // Its request has a note of its own; another result is delivered with the next replies.
        if let ended { replies.whenDelivered(ended) }
      }
      if let process { receive(from: process, items) }
      if process != nil { checkTimeLimit() }
      if files != nil || successor != nil { watch() }
      replies.flush()
    }
    end()
  }

  /// Replaces the process by one of another command, as when its files have changed.
  func replace(with new: ProgramCommand) {
    command = new
    files = new.isWatched ? WatchedFolder(of: new) : nil
    reportFiles()
    startSuccessor()
  }

  private func end() {
    phase = .waiting(until: .now + .seconds(3600))
    for streams in [process, successor?.streams] { streams?.end(waiting: true) }
    (process, successor) = (nil, nil)
    failEarly()
    failRequests("the server is shutting down")
    replies.close()
  }

  // MARK: The process

  private func start() {
    phase = .starting
    startedAt = .now
    do throws(ProgramProcess.StartError) {
      process = try ProgramStreams(command)
    } catch {
      return failed("cannot start the program \(command.words[0]): \(error)")
    }
    unsolicitedMessages = Self.unsolicitedLimit()
    requests = ProgramRequests()
    let id = requests.describe(isTest: isTest)
    // Nothing waits for a start after one that has failed, so it does not keep a server under test busy.
    open.add(id, (.describe, hasFailedToStart ? nil : busy?()))
  }

  /// Ends the process after it has failed, and starts it again later.
  ///
  /// - Parameters:
  ///   - reason: The reason; "" if the process has ended by itself.
  ///   - request: The request whose response was wrong; nil if it is not known at which one it has failed.
  func failed(_ reason: String, at request: Request? = nil) {
    if let successor {
      successor.streams.end()
      self.successor = nil
    }
    var (reason, wasStarting) = (reason, false)
    if case .starting = phase { wasStarting = true }
    if let process {
      self.process = nil
      process.receiveErrors(report)
      // Its output can end some time before it: an interpreter closes its files first.
      let end = process.end(waiting: reason.isEmpty)
      if reason.isEmpty {
        reason = "the program \(end)"
        if let line = lastErrorLine { reason += ": \(line.text)" }
      }
    }
    lastErrorLine = nil
    let lifetime = ContinuousClock.now - startedAt
    if !wasStarting, lifetime > .seconds(10) { (failures, lastProblem) = (0, nil) }
    if !wasStarting, lifetime > .seconds(600) {
      for instance in instances.values { instance.forgetFailures() }
    }
    if wasStarting { hasFailedToStart = !changesAgain }
    // The next start has the changed files.
    if changesAgain { (changesAgain, failures) = (false, 0) }
    let delay: Duration =
      failures == 0 && !hasFailedToStart
      ? .zero : min(.seconds(30), .milliseconds(250) * (1 << min(failures, 10)))
    failures += 1
    if reason != lastProblem {
      log(.failure("\(reason); it is restarted"))
      lastProblem = reason
    }
    phase = .waiting(until: .now + delay)
    publish(nil, reason)
    if delay > .zero || hasFailedToStart { failEarly() }
    let (suspects, areLikely) = request.map { ([$0], true) } ?? open.suspects
    for suspect in suspects { recordFailure(suspect, isLikely: areLikely) }
    let problem = "the program of the store kind \(kind.quoted()) has failed"
    if let request { interrupted(request, problem) }
    failRequests(problem)
  }

  /// Handles the description of the process.
  func run(_ description: ProgramDescription) {
    self.description = description
    phase = .running
    hasFailedToStart = false
    if lastProblem != nil, failures > 1 { log(.notice("the program runs again")) }
    if failures > 1 { lastProblem = nil }
    publish(description, nil)
    restoreAll()
    guard changesAgain else { return }
    changesAgain = false
    startSuccessor()
  }

  /// Publishes the description of the process, or the reason why it does not run.
  func publish(_ description: ProgramDescription?, _ problem: String?) {
    self.problem = problem
    described(description, problem)
  }

  // MARK: Requests

  /// Adds a request that has been written.
  func add(_ id: Int, _ request: Request) {
    open.add(id, (request, busy?()))
  }

  /// Removes a request that has its response.
  func remove(_ id: Int) -> Request? {
    open.remove(id).map(removed)
  }

  /// Removes the requests that open a store.
  func removeOpenings() -> [Request] { open.removeOpenings().map(removed) }

  private func removed(_ entry: OpenRequests.Entry) -> Request {
    if let ended = entry.ended { replies.whenDelivered(ended) }
    return entry.request
  }

  /// Delivers no more replies.
  func stopReplying(_ stopped: @escaping @Sendable () -> Void) { replies.close(stopped) }

  func deliver(_ message: EffectMessage?, to reply: ExchangeReply<ProcessAction>) {
    if let message { replies.add(message, reply) }
  }

  /// Ends the requests that were in progress when the process ended.
  ///
  /// - Parameter reason: The reason, for clients.
  func failRequests(_ reason: String) {
    (works, unrestored) = ([:], [])
    for instance in instances.values { instance.isOpen = false }
    for entry in open.removeAll() { interrupted(removed(entry), reason) }
    for instance in instances.values { instance.queueRepeated() }
  }

  private func checkTimeLimit() {
    guard let time = open.waitingTime(at: .now), time >= command.timeLimit else { return }
    failed("the program did not respond within \(command.timeLimit)")
  }

  // MARK: Input and output

  /// Waits for a message of the stores, for the process, or for a time limit.
  ///
  /// - Returns: The descriptors with the events that `poll` has reported; first the mailbox.
  private func wait() -> [pollfd] {
    var items = [pollfd(fd: mailbox.signal, events: Int16(POLLIN), revents: 0)]
    items += process?.items ?? []
    items += successor?.streams.items ?? []
    var timeout: Int32 = files == nil && successor == nil ? -1 : Self.watchInterval
    let now = ContinuousClock.now
    func wake(at time: ContinuousClock.Instant) {
      let left = Self.milliseconds(time - now)
      timeout = timeout < 0 ? left : min(timeout, left)
    }
    if case .waiting(let time) = phase {
      wake(at: time)
    } else if let time = open.waitingTime(at: now) {
      wake(at: now + command.timeLimit - time)
    }
    // After an error, such as an interruption, nothing is reported.
    if poll(&items, nfds_t(items.count), timeout) <= 0 {
      for index in items.indices { items[index].revents = 0 }
    }
    return items
  }

  private static func milliseconds(_ time: Duration) -> Int32 {
    let (seconds, attoseconds) = time.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }

  /// The bytes that wait for the process.
  var unsentBytes: Int { requests.output.count + (process?.unsentCount ?? 0) }

  /// The most bytes that wait for the process before inputs get errors. The process is read meanwhile:
  /// it may write its responses before it reads more.
  static let maximumUnsent = 64 << 20

  /// True while so much waits for the process that inputs get errors.
  var isFull: Bool { unsentBytes > Self.maximumUnsent }

  private func send() {
    if requests.output.count > 0 {
      requests.output.withBytes { process?.send($0) }
      requests.removeAll()
    } else {
      process?.flush()
    }
  }

  private func receive(from process: ProgramStreams, _ items: [pollfd]) {
    process.note(items)
    if process.hasErrorText { process.receiveErrors(report) }
    guard process.hasOutput else { return }
    switch process.receive({ take($0) && self.process === process }) {
    case .open:
      if unsolicitedMessages.use(process.takeBlankLines(), at: .now) != nil {
        failed("the program sends too many lines without a message")
      }
    case .ended: if self.process === process { failed("") }
    case .overlong:
      failed("the program sent a line of more than \(ProgramStreams.maximumLineBytes) bytes")
    }
  }

  private func report(_ line: String) {
    if !line.isEmpty { lastErrorLine = (line, requests.last) }
    if lines.takeOne(at: .now) {
      log(.output(line))
    } else if dropNotes.takeOne(at: .now) {
      log(.output("(lines are dropped: too many in a second)"))
    }
  }

  /// Forgets the last line of the standard error if the process has responded to a later request. It may
  /// have kept earlier responses back until its end.
  func forgetErrorLine(before response: Int) {
    if let line = lastErrorLine, line.request < response { lastErrorLine = nil }
  }

  /// Logs a failure that does not end the process, unless too many lines were logged.
  func logFailure(_ text: String) {
    if failureLines.takeOne(at: .now) { log(.failure(text)) }
  }

  static func unsolicitedLimit() -> TokenBucket { TokenBucket(perSecond: 1_000, at: .now) }

  /// Counts a message of the process that belongs to nothing.
  ///
  /// - Throws: `JSONError` if there are too many.
  func countUnsolicitedMessage() throws(JSONError) {
    guard unsolicitedMessages.takeOne(at: .now) else {
      throw JSONError(.value, "too many messages without a request or running work")
    }
  }
}
