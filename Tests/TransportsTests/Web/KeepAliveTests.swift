// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Transports

@Suite("Keep-alive of a WebSocket")
struct KeepAliveTests {
  private let start = ContinuousClock.now

  /// Returns the actions of checks at some seconds after the start, before which something was
  /// received or not.
  private func actions(_ looks: [(at: Int, hasReceived: Bool)]) -> [KeepAlive.Action] {
    var keepAlive = KeepAlive(since: start)
    return looks.map { check in
      keepAlive.check(start + .seconds(check.at), hasReceived: check.hasReceived, .seconds(30))
    }
  }

  @Test("a silent client is pinged once, then closed")
  func silence() {
    #expect(
      actions([(29, false), (30, false), (31, false), (59, false), (60, false)])
        == [.nothing, .ping, .nothing, .nothing, .close])
  }

  @Test("any input restarts the time")
  func speaking() {
    #expect(
      actions([(29, true), (58, false), (59, false), (60, true), (89, false), (90, false)])
        == [.nothing, .nothing, .ping, .nothing, .nothing, .ping])
  }

  @Test("after a late check, the client still has time to respond")
  func late() {
    #expect(
      actions([(1000, false), (1029, false), (1030, false)]) == [.ping, .nothing, .close])
  }
}
