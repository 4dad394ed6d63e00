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
    /// True if the thread was woken, and has not taken the messages yet.
    var isAwake = false
    /// The host that wakes the thread after its turn.
    var waker: ObjectIdentifier?
  }

  /// The way in which the thread learns of a message that was added.
  enum Waking {
    case nothing
    case now
    /// `wake` is to be called after the turn of the host.
    case afterTurn
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

  /// The end of the pipe that is readable when the thread has been woken.
  var signal: Int32 { ends.reading }

  /// Adds a message. After `close` it is dropped, except that its sender gets an error.
  ///
  /// - Parameters:
  ///   - message: The message.
  ///   - host: The host in whose turn it is added, if others of this turn follow; nil to wake the
  ///     thread immediately.
  func add(_ message: ProgramCommandMessage, inTurnOf host: ObjectIdentifier? = nil) -> Waking {
    let entry = (message, busy?())
    let (waking, isClosed): (Waking, Bool) = state.withLock { state in
      guard !state.isClosed else { return (.nothing, true) }
      state.messages.append(entry)
      if state.isAwake || host != nil && state.waker == host { return (.nothing, false) }
      // A message of another sender does not wait for the turn.
      guard let host, state.waker == nil else {
        state.isAwake = true
        return (.now, false)
      }
      state.waker = host
      return (.afterTurn, false)
    }
    if isClosed {
      message.fail()
      entry.1?()
    }
    return waking
  }

  /// Ends the thread.
  func close() {
    state.withLock { $0.isClosed = true }
    signalThread()
  }

  /// Wakes the thread after the turn of a host, if it has not taken the messages yet.
  func wake() {
    let isDue = state.withLock { state in
      guard !state.isAwake, !state.messages.isEmpty else { return false }
      state.isAwake = true
      return true
    }
    if isDue { signalThread() }
  }

  /// Makes the pipe readable.
  func signalThread() {
    var byte: UInt8 = 0
    _ = write(ends.writing, &byte, 1)
  }

  /// Removes all messages.
  func take() -> (messages: [Entry], isClosed: Bool) {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(ends.reading, &bytes, bytes.count) == bytes.count {}
    return state.withLock { state in
      defer { (state.messages, state.isAwake, state.waker) = ([], false, nil) }
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
    case .stopServing(let stopped): stopped()
    case .job, .begin, .viewers, .cancel, .close, .replace: break
    }
  }
}
