// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Transports

@Suite("Connection handler", .timeLimit(.minutes(15)))
struct ConnectionHandlerTests {
  /// The handler and its context held each other, so clients that were gone when they were accepted
  /// cost memory.
  @Test("a connection whose channel has never been active is released")
  func neverActive() throws {
    let server = EmbeddedServer([])
    weak let handler = try server.endBeforeActive()
    #expect(handler == nil)
    try server.stop()
  }
}
