// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Transports

@Suite("Whether a WebSocket's peer is still there")
struct KeepAliveTests {
  private let start = ContinuousClock.now

  /// What is done at looks so many seconds after the start, at which something has been heard or not.
  private func actions(_ looks: [(at: Int, hasSpoken: Bool)]) -> [KeepAlive.Action] {
    var keepAlive = KeepAlive(since: start)
    return looks.map { look in
      keepAlive.look(start + .seconds(look.at), hasSpoken: look.hasSpoken, .seconds(30))
    }
  }

  @Test("one ping, then the end")
  func silence() {
    #expect(
      actions([(29, false), (30, false), (31, false), (59, false), (60, false)])
        == [.nothing, .ping, .nothing, .nothing, .close])
  }

  @Test("whatever comes is a sign of life")
  func speaking() {
    #expect(
      actions([(29, true), (58, false), (59, false), (60, true), (89, false), (90, false)])
        == [.nothing, .nothing, .ping, .nothing, .nothing, .ping])
  }

  @Test("a late look leaves time for an answer")
  func late() {
    #expect(
      actions([(1000, false), (1029, false), (1030, false)]) == [.ping, .nothing, .close])
  }
}
