// SPDX-License-Identifier: Apache-2.0

import StateMachines
import TestSupport
import Testing

@testable import ProcessStores

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An executor whose closures are called when a test demands it, on the thread of the test.
private final class ManualExecutor: ClosureExecutor {
  private let closures = Lock([@Sendable () -> Void]())
  func enqueue(_ body: @escaping @Sendable () -> Void) { closures.withLock { $0.append(body) } }
  func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: asUnownedSerialExecutor())
  }
  func checkIsolated() {}
  /// Ends the turn: calls the closures.
  func endTurn() {
    let due = closures.withLock { closures in
      defer { closures = [] }
      return closures
    }
    for body in due { body() }
  }
}

private actor Host: StoreHost {
  nonisolated let executor = ManualExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var closureExecutor: (any ClosureExecutor)? { executor }
  func deliver(_ message: EffectMessage) {}
}

@Suite("Mailbox of a program")
struct ProgramMailboxTests {
  private let mailbox = ProgramMailbox(busy: nil)
  private let host = Host()

  /// True if the thread is woken.
  private var isSignalled: Bool {
    var item = pollfd(fd: mailbox.signal, events: Int16(POLLIN), revents: 0)
    return poll(&item, 1, 0) == 1
  }

  private func take() -> [Int] {
    mailbox.take().messages.map { entry in
      if case .cancel(let work) = entry.message { work } else { -1 }
    }
  }

  @Test("the thread takes the messages of a turn together, after the turn")
  func together() {
    let queue = ReplyQueue(host: host)
    for number in 0..<3 { mailbox.post(.cancel(work: number), after: queue) }
    #expect(!isSignalled)
    host.executor.endTurn()
    #expect(isSignalled)
    #expect(take() == [0, 1, 2])
    #expect(!isSignalled)
    // The next turn wakes it again.
    mailbox.post(.cancel(work: 3), after: queue)
    host.executor.endTurn()
    #expect(isSignalled)
    #expect(take() == [3])
  }

  @Test("a message that does not wait wakes the thread, which is not woken again after the turn")
  func immediately() {
    let queue = ReplyQueue(host: host)
    mailbox.post(.cancel(work: 0), after: queue)
    mailbox.post(.cancel(work: 1))
    #expect(isSignalled)
    #expect(take() == [0, 1])
    host.executor.endTurn()
    #expect(!isSignalled)
  }

  @Test("each host wakes the thread, because another one may end before it does")
  func hosts() {
    let (one, other) = (ReplyQueue(host: Host()), ReplyQueue(host: host))
    // Its host has gone.
    mailbox.post(.cancel(work: 0), after: one)
    #expect(isSignalled)
    #expect(take() == [0])
    // A host whose turn does not end.
    let stalled = Host()
    mailbox.post(.cancel(work: 1), after: ReplyQueue(host: stalled))
    mailbox.post(.cancel(work: 2), after: other)
    #expect(!isSignalled)
    host.executor.endTurn()
    #expect(isSignalled)
    #expect(take() == [1, 2])
    withExtendedLifetime(stalled) {}
  }

  @Test("many messages wake the thread within the turn, and so do many queues")
  func many() {
    let queue = ReplyQueue(host: host)
    for number in 0..<255 { mailbox.post(.cancel(work: number), after: queue) }
    #expect(!isSignalled)
    mailbox.post(.cancel(work: 255), after: queue)
    #expect(isSignalled)
    #expect(take() == Array(0..<256))
    let stalled = Host()
    for number in 0..<16 {
      mailbox.post(.cancel(work: number), after: ReplyQueue(host: stalled))
    }
    #expect(!isSignalled)
    mailbox.post(.cancel(work: 16), after: ReplyQueue(host: stalled))
    #expect(isSignalled)
    #expect(take() == Array(0..<17))
    withExtendedLifetime(stalled) {}
  }

  @Test("the end wakes the thread, which gets the messages before it")
  func end() {
    let queue = ReplyQueue(host: host)
    mailbox.post(.cancel(work: 0), after: queue)
    mailbox.close()
    #expect(isSignalled)
    let (messages, isClosed) = mailbox.take()
    #expect(messages.count == 1 && isClosed)
    host.executor.endTurn()
    #expect(!isSignalled)
  }
}
