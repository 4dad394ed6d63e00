// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import StateMachines
internal import StatewireJSON

/// The program of a store kind: a child process that is restarted when it ends.
///
/// A thread of its own starts the process and speaks with it, so that no store waits for a slow
/// program.
public final class StoreProgram: Sendable {
  /// A line for the log of the server.
  public enum LogEntry: Sendable {
    /// The program has written a line to its standard error.
    case output(String)
    /// The program runs again.
    case notice(String)
    /// The program has failed.
    case failure(String)
  }

  /// The name of the kind.
  public let name: String
  private let mailbox: ProgramMailbox
  private let shared = Lock(Shared())
  /// Ends with the thread.
  private let life: AsyncStream<Never>

  private struct Shared {
    var description = ProgramDescription.unknown
    var isDescribed = false
    var problem: String?
    var waiting: [CheckedContinuation<Void, Never>] = []
    var last = 0
  }

  /// Starts the program.
  ///
  /// - Parameters:
  ///   - name: The name of the kind.
  ///   - command: The program.
  ///   - busy: Called when a request to the program begins; the returned function is called when it
  ///     ends. For tests that wait until no work is pending.
  ///   - log: Receives lines for the log, on the thread of the program.
  public init(
    _ name: String, _ command: ProgramCommand,
    busy: (@Sendable () -> @Sendable () -> Void)? = nil,
    log: @escaping @Sendable (LogEntry) -> Void
  ) {
    self.name = name
    // Writing to a process that has ended must not end this one.
    signal(SIGPIPE, SIG_IGN)
    let mailbox = ProgramMailbox(busy: busy)
    self.mailbox = mailbox
    let (life, ending) = AsyncStream.makeStream(of: Never.self)
    self.life = life
    let described: @Sendable (ProgramDescription?, String?) -> Void = { [weak self] in
      self?.described($0, $1)
    }
    Thread.detachNewThread {
      ProgramLoop(
        kind: name, command, mailbox, busy: busy, described: described, log: log
      ).run()
      ending.finish()
    }
  }

  deinit { mailbox.close() }

  /// Ends the openings of stores and `start`, because the server of the stores ends. Other requests still
  /// get their responses.
  public func stopOpening() { mailbox.post(.stopOpening) }

  /// Delivers nothing to stores any more. Returns when the last delivery has ended.
  public func stopReplying() async {
    await withCheckedContinuation { continuation in
      mailbox.post(.stopReplying { continuation.resume() })
    }
  }

  /// Ends the process, and waits until it has ended. Stores that use the program afterwards get errors.
  public func close() async {
    mailbox.close()
    for await _ in life {}
  }

  /// Replaces the program by one of another command, or with other conditions. Stores and clients stay. If
  /// the new one does not start, the earlier one continues until it ends.
  public func replace(with command: ProgramCommand) { mailbox.post(.replace(command)) }

  /// Starts the program again if it, or its changed version, does not run. Its files, which need not be
  /// watched, may be correct now.
  public func retry() { mailbox.post(.retry) }

  /// Waits until the program has described itself or could not be started, or until the server ends.
  ///
  /// - Returns: The reason if it has failed; nil if it has described itself.
  @discardableResult
  public func start() async -> String? {
    await withCheckedContinuation { continuation in
      let isDue = shared.withLock { shared in
        guard !shared.isDescribed, shared.problem == nil else { return true }
        shared.waiting.append(continuation)
        return false
      }
      if isDue { continuation.resume() }
    }
    return shared.withLock { $0.isDescribed ? nil : $0.problem }
  }

  /// The reason why the program, or its changed version, does not run; nil if the current files run.
  var problem: String? { shared.withLock { $0.problem } }

  private func described(_ description: ProgramDescription?, _ problem: String?) {
    let waiting = shared.withLock { shared in
      if let description {
        shared.description = description
        shared.isDescribed = true
      }
      shared.problem = problem
      defer { shared.waiting = [] }
      return shared.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// The last description of the program.
  var description: ProgramDescription { shared.withLock { $0.description } }

  /// Returns a number for a store or for work, which no other has.
  func nextNumber() -> Int {
    shared.withLock { shared in
      shared.last += 1
      return shared.last
    }
  }

  /// Passes a message to the thread; see `ProgramMailbox.post`.
  func post(_ message: ProgramCommandMessage, after waker: ReplyQueue? = nil) {
    mailbox.post(message, after: waker)
  }

  func refusal(of input: JSONText) -> InputRefusal? {
    do throws(JSONError) {
      try JSON.checkNumbers(of: input)
      if let schema = shared.withLock({ $0.description.input }) {
        try schema.check(JSONValue(parsing: input.bytes))
      }
      return nil
    } catch {
      return InputRefusal(.value, error.message, path: error.path.map(\.name))
    }
  }

  /// Opens a store in the program.
  func open(
    _ setup: StoreSetup, by viewer: Viewer, now: Int
  ) async -> Result<ProcessState, InputRefusal> {
    await withCheckedContinuation { continuation in
      post(.open(setup, viewer, now: now) { continuation.resume(returning: $0) })
    }
  }
}

extension JSONPathElement {
  /// The key, or the index as text.
  var name: String {
    switch self {
    case .key(let key): key
    case .index(let index): String(index)
    }
  }
}
