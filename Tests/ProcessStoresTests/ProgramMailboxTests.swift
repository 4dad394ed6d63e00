// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ProcessStores

@Suite("Messages to the thread of a program")
struct ProgramMailboxTests {
  private final class Host {}
  private let first = Host()
  private let second = Host()
  private let mailbox = ProgramMailbox(busy: nil)

  @Test("the messages of a turn wake the thread once, after the turn")
  func turn() {
    let host = ObjectIdentifier(first)
    #expect(mailbox.add(.cancel(work: 1), inTurnOf: host) == .afterTurn)
    #expect(mailbox.add(.cancel(work: 2), inTurnOf: host) == .nothing)
    #expect(mailbox.take().messages.count == 2)
    #expect(mailbox.add(.cancel(work: 3), inTurnOf: host) == .afterTurn)
  }

  @Test("a message of another sender does not wait for the turn")
  func others() {
    let (host, other) = (ObjectIdentifier(first), ObjectIdentifier(second))
    for sender in [nil, other] {
      #expect(mailbox.add(.cancel(work: 1), inTurnOf: host) == .afterTurn)
      #expect(mailbox.add(.cancel(work: 2), inTurnOf: sender) == .now)
      // The thread is awake now, and takes what follows.
      #expect(mailbox.add(.cancel(work: 3), inTurnOf: host) == .nothing)
      #expect(mailbox.add(.cancel(work: 4)) == .nothing)
      #expect(mailbox.take().messages.count == 4)
    }
  }

  @Test("a message without a turn wakes the thread")
  func alone() {
    #expect(mailbox.add(.cancel(work: 1)) == .now)
    #expect(mailbox.add(.cancel(work: 2), inTurnOf: ObjectIdentifier(first)) == .nothing)
    #expect(mailbox.take().messages.count == 2)
    mailbox.close()
    #expect(mailbox.add(.cancel(work: 3)) == .nothing)
    #expect(mailbox.take().isClosed)
  }
}
