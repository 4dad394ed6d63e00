// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import NIOCore
import NIOEmbedded
import ServerCore
import Testing

@testable import Transports

@Suite("Accepting connections")
struct AcceptGateTests {
  private let loop = EmbeddedEventLoop()

  private func gate(refusedConnections: Int = 100) -> AcceptGate {
    var limits = ServerLimits()
    limits.refusedConnections = refusedConnections
    return AcceptGate(ServerSettings(limits: limits), on: loop)
  }

  /// Calls `body` with open sockets, and closes them.
  private func withSockets(_ count: Int, _ body: ([EmbeddedChannel]) throws -> Void) throws {
    let sockets = (0..<count).map { _ in EmbeddedChannel(loop: loop) }
    try body(sockets)
    // Some are closed already.
    for socket in sockets { try? socket.close().wait() }
    loop.run()
  }

  @Test("listeners pause while eight sockets are neither counted nor closed, however long it takes")
  func uncounted() throws {
    let gate = gate()
    try withSockets(10) { sockets in
      for socket in sockets.prefix(7) { gate.accepted(socket) }
      #expect(gate.isAccepting)
      gate.accepted(sockets[7])
      #expect(!gate.isAccepting)
      loop.advanceTime(by: .seconds(60))
      #expect(!gate.isAccepting)
      gate.countedOrClosed(sockets[3])
      #expect(gate.isAccepting)
      gate.accepted(sockets[8])
      #expect(!gate.isAccepting)
      // One that is closed before its loop sees it.
      try sockets[8].close().wait()
      loop.run()
      #expect(gate.isAccepting)
      gate.accepted(sockets[9])
      #expect(!gate.isAccepting)
      // The end of one that was counted makes no further room.
      try sockets[3].close().wait()
      loop.run()
      #expect(!gate.isAccepting)
    }
  }

  @Test("few descriptors permit two sockets")
  func fewDescriptors() throws {
    let gate = gate(refusedConnections: 1)
    try withSockets(2) { sockets in
      gate.accepted(sockets[0])
      #expect(gate.isAccepting)
      gate.accepted(sockets[1])
      #expect(!gate.isAccepting)
    }
  }

  @Test(
    "listeners pause after the system has refused a descriptor, and other errors change nothing")
  func failures() {
    let gate = gate()
    gate.failed(IOError(errnoCode: ECONNABORTED, reason: "accept"))
    gate.failed(ChannelError.eof)
    #expect(gate.isAccepting)
    gate.failed(IOError(errnoCode: EMFILE, reason: "accept"))
    gate.failed(IOError(errnoCode: EMFILE, reason: "accept"))
    #expect(!gate.isAccepting)
    loop.advanceTime(by: .milliseconds(199))
    #expect(!gate.isAccepting)
    loop.advanceTime(by: .milliseconds(1))
    #expect(gate.isAccepting)
  }
}
