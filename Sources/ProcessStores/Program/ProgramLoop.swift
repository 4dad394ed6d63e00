// SPDX-License-Identifier: Apache-2.0

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
  }

  /// A request that has not been answered.
  enum Request {
    case describe
    case open(ProgramInstance, now: Int, @Sendable (Result<ProcessState, InputRefusal>) -> Void)
    case restore(ProgramInstance)
    case viewers(ProgramInstance)
    case job(ProgramInstance, ProgramJob)
  }

  let kind: String
  private let command: ProgramCommand
  private let mailbox: ProgramMailbox
  private let busy: (@Sendable () -> @Sendable () -> Void)?
  private let described: @Sendable (ProgramDescription?, String?) -> Void
  private let log: @Sendable (StoreProgram.LogEntry) -> Void

  private var process: ProgramProcess?
  private(set) var phase = Phase.waiting(until: .now)
  private var isClosed = false
  private(set) var description = ProgramDescription.unknown
  /// The failures since the process last ran for a while.
  private var failures = 0
  private var startedAt = ContinuousClock.now
  private var lastProblem: String?

  var requests = ProgramRequests()
  /// The requests that were not answered, by id, with the end of the note that the server is busy.
  private var open: [Int: (request: Request, ended: (@Sendable () -> Void)?)] = [:]
  /// The ids of requests with a time limit, in the order in which they were sent.
  private var deadlines: [(id: Int, at: ContinuousClock.Instant)] = []
  private var firstDeadline = 0

  var instances: [Int: ProgramInstance] = [:]
  /// The messages that wait until the process has described itself.
  var early: [ProgramCommandMessage] = []
  /// The work that runs: the id of its request.
  var works: [Int: Int] = [:]

  private var unsent: [UInt8] = []
  private var sentCount = 0
  private var received: [UInt8] = []
  private var errorText: [UInt8] = []
  private var chunk = [UInt8](repeating: 0, count: 64 << 10)
  private var errorLines = TokenBucket(capacity: 100, perSecond: 10)
  /// Limits the messages of the process that belong to no work.
  private var strayMessages = TokenBucket(capacity: 10_000, perSecond: 1_000)
  private var replies = ReplyBatch()

  /// The longest line from the process.
  static let maximumLineBytes = 16 << 20
  /// The most bytes that wait for the process before stores get errors.
  static let maximumUnsentBytes = 64 << 20

  init(
    kind: String, _ command: ProgramCommand, _ mailbox: ProgramMailbox,
    busy: (@Sendable () -> @Sendable () -> Void)?,
    described: @escaping @Sendable (ProgramDescription?, String?) -> Void,
    log: @escaping @Sendable (StoreProgram.LogEntry) -> Void
  ) {
    (self.kind, self.command, self.mailbox, self.busy) = (kind, command, mailbox, busy)
    (self.described, self.log) = (described, log)
  }

  /// Runs until the mailbox is closed.
  func run() {
    while !isClosed {
      if case .waiting(let time) = phase, time <= .now { start() }
      send()
      wait()
      let (messages, isClosed) = mailbox.take()
      self.isClosed = isClosed
      for (message, ended) in messages {
        take(message)
        // Its request has a note of its own; another result is delivered with the next replies.
        if let ended { replies.whenDelivered(ended) }
      }
      if process != nil { receive() }
      if process != nil { checkDeadlines() }
      replies.flush()
    }
    end()
  }

  private func end() {
    if let process {
      self.process = nil
      _ = process.end()
    }
    failRequests("the server is shutting down")
    replies.flush()
  }

  // MARK: The process

  private func start() {
    do throws(ProgramProcess.StartError) {
      process = try ProgramProcess(command)
    } catch {
      return failed("cannot start \(command.words[0]): \(error)")
    }
    startedAt = .now
    phase = .starting
    (unsent, sentCount, received, errorText) = ([], 0, [], [])
    requests = ProgramRequests()
    let id = requests.request("machine/describe") { $0.member("protocol", 1) }
    add(id, .describe)
  }

  /// Ends the process after it has failed, and starts it again later.
  func failed(_ reason: String) {
    var (reason, wasStarting) = (reason, false)
    if case .starting = phase { wasStarting = true }
    if let process {
      self.process = nil
      let end = process.end()
      if reason.isEmpty { reason = "it has ended (\(end))" }
    }
    if ContinuousClock.now - startedAt > .seconds(10) { failures = 0 }
    let delay: Duration =
      failures == 0 ? .zero : min(.seconds(30), .milliseconds(250) * (1 << min(failures, 10)))
    failures += 1
    if reason != lastProblem {
      log(.failure("\(reason); it is started again"))
      lastProblem = reason
    }
    phase = .waiting(until: .now + delay)
    described(nil, reason)
    if delay > .zero || wasStarting { failEarly() }
    failRequests("the program of the store kind \(kind.quoted()) has failed")
  }

  /// Handles the description of the process.
  func run(_ description: ProgramDescription) {
    self.description = description
    phase = .running
    if lastProblem != nil, failures > 1 { log(.notice("the program runs again")) }
    if failures > 1 { lastProblem = nil }
    described(description, nil)
    restoreAll()
  }

  // MARK: Requests

  /// Adds a request that has been written.
  func add(_ id: Int, _ request: Request) {
    open[id] = (request, busy?())
    if case .job(_, .work) = request { return }
    deadlines.append((id, .now + command.timeLimit))
  }

  /// Removes a request that is answered.
  func remove(_ id: Int) -> Request? {
    guard let (request, ended) = open.removeValue(forKey: id) else { return nil }
    if let ended { replies.whenDelivered(ended) }
    return request
  }

  /// Returns a request that is not answered.
  func request(_ id: Int) -> Request? { open[id]?.request }

  func deliver(_ message: EffectMessage?, to reply: ExchangeReply<ProcessAction>) {
    if let message { replies.add(message, reply) }
  }

  /// Ends the requests that were in progress when the process ended.
  private func failRequests(_ reason: String) {
    let ids = open.keys.sorted()
    (deadlines, firstDeadline) = ([], 0)
    works = [:]
    for instance in instances.values { instance.isOpen = false }
    // A program works in order, so the oldest request is the one at which it has failed.
    if let first = ids.first, let request = request(first) { blame(request) }
    for id in ids {
      if let request = remove(id) { interrupted(request, reason) }
    }
  }

  private func checkDeadlines() {
    while firstDeadline < deadlines.count {
      let (id, time) = deadlines[firstDeadline]
      if open[id] != nil {
        guard time <= .now else { break }
        return failed("it did not answer within \(command.timeLimit)")
      }
      firstDeadline += 1
    }
    if firstDeadline > 1024 || firstDeadline == deadlines.count {
      deadlines.removeFirst(firstDeadline)
      firstDeadline = 0
    }
  }

  // MARK: Input and output

  private func wait() {
    var items = [pollfd(fd: mailbox.signal, events: Int16(POLLIN), revents: 0)]
    if let process {
      items.append(pollfd(fd: process.output, events: Int16(POLLIN), revents: 0))
      items.append(pollfd(fd: process.errors, events: Int16(POLLIN), revents: 0))
      if sentCount < unsent.count {
        items.append(pollfd(fd: process.input, events: Int16(POLLOUT), revents: 0))
      }
    }
    var timeout: Int32 = -1
    if case .waiting(let time) = phase {
      timeout = Self.milliseconds(time - .now)
    } else if firstDeadline < deadlines.count {
      timeout = Self.milliseconds(deadlines[firstDeadline].at - .now)
    }
    _ = poll(&items, nfds_t(items.count), timeout)
  }

  private static func milliseconds(_ time: Duration) -> Int32 {
    let (seconds, attoseconds) = time.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
  }

  /// True while so much waits for the process that stores get errors.
  var isFull: Bool { unsent.count - sentCount > Self.maximumUnsentBytes }

  private func send() {
    guard let process else { return requests.removeAll() }
    if requests.output.count > 0 {
      requests.output.withBytes { unsent.append(contentsOf: $0) }
      requests.removeAll()
    }
    while sentCount < unsent.count {
      let count = unsent.withUnsafeBytes { bytes in
        write(process.input, bytes.baseAddress?.advanced(by: sentCount), bytes.count - sentCount)
      }
      if count > 0 {
        sentCount += count
      } else if errno == EINTR {
        continue
      } else if errno == EAGAIN {
        break
      } else {
        // The end of its output says how it has ended.
        break
      }
    }
    if sentCount == unsent.count {
      unsent.removeAll(keepingCapacity: unsent.capacity < 1 << 20)
      sentCount = 0
    } else if sentCount > 1 << 20 {
      unsent.removeFirst(sentCount)
      sentCount = 0
    }
  }

  private func receive() {
    guard let process else { return }
    readErrors(process.errors)
    // A bounded part, so that the stores are served in between.
    for _ in 0..<16 {
      let start = received.count
      let space = 64 << 10
      let count = read(process.output, into: &received, space)
      if count == 0 { return failed("") }
      if count < 0 {
        if errno == EINTR { continue }
        break
      }
      guard takeLines(from: start), self.process != nil else { return }
      if count < space { break }
    }
  }

  /// Appends what can be read.
  ///
  /// - Returns: The number of bytes; 0 at the end, and -1 after an error.
  private func read(_ descriptor: Int32, into bytes: inout [UInt8], _ space: Int) -> Int {
    let count = chunk.withUnsafeMutableBytes {
      readDescriptor(descriptor, $0.baseAddress, min(space, $0.count))
    }
    if count > 0 { bytes += chunk[..<count] }
    return count
  }

  /// Handles the lines that are complete.
  ///
  /// - Returns: False if the process has failed.
  private func takeLines(from start: Int) -> Bool {
    var (lineStart, index) = (0, start)
    // Moved, so that nothing is copied.
    var text: [UInt8] = []
    swap(&text, &received)
    let isRunning = text.withUnsafeBytes { bytes in
      while index < bytes.count, let end = bytes[index...].firstIndex(of: UInt8(ascii: "\n")) {
        let line = UnsafeRawBufferPointer(rebasing: bytes[lineStart..<end])
        (lineStart, index) = (end + 1, end + 1)
        if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { continue }
        guard take(line) else { return false }
      }
      return true
    }
    guard isRunning else { return false }
    text.removeFirst(lineStart)
    swap(&text, &received)
    guard received.count <= Self.maximumLineBytes else {
      failed("a line of its output has more than \(Self.maximumLineBytes) bytes")
      return false
    }
    return true
  }

  private func readErrors(_ descriptor: Int32) {
    var chunk: [UInt8] = []
    guard read(descriptor, into: &chunk, 16 << 10) > 0 else { return }
    errorText += chunk
    while let end = errorText.firstIndex(of: UInt8(ascii: "\n")) {
      report(errorText[..<end])
      errorText.removeSubrange(...end)
    }
    if errorText.count > 4 << 10 {
      report(errorText[...])
      errorText = []
    }
  }

  private func report(_ line: ArraySlice<UInt8>) {
    guard errorLines.takes(at: .now) else { return }
    if errorLines.takeRefused() > 0 { log(.output("(lines were left out)")) }
    log(.output(String(decoding: line.prefix(4 << 10), as: UTF8.self)))
  }

  /// Notes a failure that does not end the process.
  func complain(_ text: String) {
    if errorLines.takes(at: .now) { log(.failure(text)) }
  }

  /// Counts a message of the process that belongs to nothing.
  ///
  /// - Throws: `JSONError` if there are too many.
  func countStrayMessage() throws(JSONError) {
    guard strayMessages.takes(at: .now) else {
      throw JSONError(.value, "it sends too many messages that belong to no work")
    }
  }
}

/// Calls the function of the system, which a method hides.
private func readDescriptor(
  _ descriptor: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int
) -> Int {
  #if canImport(Glibc)
    Glibc.read(descriptor, buffer, count)
  #elseif canImport(Musl)
    Musl.read(descriptor, buffer, count)
  #else
    Darwin.read(descriptor, buffer, count)
  #endif
}
