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

  private func sockets(_ count: Int) -> [EmbeddedChannel] {
    (0..<count).map { _ in EmbeddedChannel(loop: loop) }
  }

  @Test("listeners pause while eight sockets are neither counted nor closed, however long it takes")
  func uncounted() {
    let gate = gate()
    let sockets = sockets(9)
    defer { for socket in sockets { _ = try? socket.finish() } }
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
    // Twice for the same socket makes no further room.
    gate.countedOrClosed(sockets[3])
    #expect(!gate.isAccepting)
    for socket in sockets { gate.countedOrClosed(socket) }
    #expect(gate.isAccepting)
  }

  @Test("few descriptors permit two sockets")
  func fewDescriptors() {
    let gate = gate(refusedConnections: 1)
    let sockets = sockets(2)
    defer { for socket in sockets { _ = try? socket.finish() } }
    gate.accepted(sockets[0])
    #expect(gate.isAccepting)
    gate.accepted(sockets[1])
    #expect(!gate.isAccepting)
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
