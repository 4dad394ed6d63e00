// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The messages of the stores to the thread of a program, and a pipe that wakes the thread.
final class ProgramMailbox: Sendable {
  private struct State {
    var messages: [Entry] = []
    var isClosed = false
    /// True if the thread has been woken and has not taken the messages.
    var isWoken = false
    /// The queues whose hosts wake the thread after their turn. A host that has no queue of its own has
    /// one for each store.
    var wakers: [ReplyQueue] = []

    /// Returns true if the caller is to wake the thread now.
    mutating func claimWake() -> Bool {
      guard !isWoken, !messages.isEmpty else { return false }
      isWoken = true
      return true
    }
  }

  /// A message, and the end of the note that the server is busy with it.
  typealias Entry = (message: ProgramCommandMessage, ended: (@Sendable () -> Void)?)

  private let busy: (@Sendable () -> @Sendable () -> Void)?
  private let state = Lock(State())
  private let ends: (reading: Int32, writing: Int32)

  /// - Parameter busy: Called when a message is added; the returned function is called when it has been
  ///   handled.
  init(busy: (@Sendable () -> @Sendable () -> Void)?) {
    self.busy = busy
    var ends: [Int32] = [-1, -1]
    // The process has no descriptor left; no program could be started either.
    precondition(pipe(&ends) == 0, "cannot open a pipe")
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    self.ends = (ends[0], ends[1])
  }

  deinit {
    _ = Self.closeDescriptor(ends.reading)
    _ = Self.closeDescriptor(ends.writing)
  }

  private static func closeDescriptor(_ descriptor: Int32) -> Int32 {
    #if canImport(Glibc)
      Glibc.close(descriptor)
    #elseif canImport(Musl)
      Musl.close(descriptor)
    #else
      Darwin.close(descriptor)
    #endif
  }

  /// The end of the pipe that is readable from when the thread is woken until `take`.
  var signal: Int32 { ends.reading }

  /// Adds a message. After `close` it is dropped, except that its sender gets an error.
  ///
  /// - Parameter waker: The queue of the host of the sender, after whose turn the thread is woken: it takes all
  ///   messages of the turn together. Nil to wake it now.
  func post(_ message: ProgramCommandMessage, after waker: ReplyQueue? = nil) {
    let entry = (message, busy?())
    let result = state.withLock { state -> Posted in
      guard !state.isClosed else { return .isClosed }
      state.messages.append(entry)
      // A long turn wakes the thread before its end, which then works beside it.
      guard let waker, state.messages.count < Self.maximumTogether,
        state.wakers.count < Self.maximumWakers
      else { return state.claimWake() ? .wakes : .waits }
      // Each host wakes the thread itself: another one may end before it does.
      guard !state.isWoken, !state.wakers.contains(where: { $0 === waker }) else { return .waits }
      state.wakers.append(waker)
      return .wakesLater(waker)
    }
    switch result {
    case .waits: break
    case .wakes: wake()
    case .wakesLater(let waker):
      waker.afterTurn { [self] in if state.withLock({ $0.claimWake() }) { wake() } }
    case .isClosed:
      message.fail()
      entry.1?()
    }
  }

  /// The most messages of a turn that the thread takes together.
  private static let maximumTogether = 256
  /// The most queues that wake the thread later; a further one wakes it now.
  private static let maximumWakers = 16

  /// The way in which the thread learns of a message.
  private enum Posted {
    case waits
    case wakes
    case wakesLater(ReplyQueue)
    case isClosed
  }

  /// Ends the thread.
  func close() {
    state.withLock { $0.isClosed = true }
    wake()
  }

  private func wake() {
    var byte: UInt8 = 0
    _ = write(ends.writing, &byte, 1)
  }

  /// Removes all messages; called when `signal` is readable.
  func take() -> (messages: [Entry], isClosed: Bool) {
    var bytes: UInt64 = 0
    let count = MemoryLayout.size(ofValue: bytes)
    while read(ends.reading, &bytes, count) == count {}
    return state.withLock { state in
      (state.isWoken, state.wakers) = (false, [])
      defer { state.messages = [] }
      return (state.messages, state.isClosed)
    }
  }
}

extension ProgramCommandMessage {
  /// Reports that the program has ended to the sender of the message.
  fileprivate func fail() {
    let refusal = InputRefusal(.unavailable, "the server is shutting down")
    switch self {
    case .open(_, _, _, let opened): opened(.failure(refusal))
    case .job(_, .work(_, _, _, let events)): events.finish()
    // The stores are closed with the server.
    case .stopReplying(let stopped): stopped()
    case .job, .drop, .begin, .viewers, .cancel, .close, .replace, .retry, .stopOpening: break
    }
  }
}
