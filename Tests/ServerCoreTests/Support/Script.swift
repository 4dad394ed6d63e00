// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import ServerCore

/// A conversation as data.
struct Script: CustomTestStringConvertible, Sendable {
  enum Step: Sendable {
    /// The client sends messages in one chunk.
    case send([String])
    /// Exactly these messages arrive.
    case expect([String])
    /// Work receives orders.
    case order(String, [Orders.Order])
    /// The client ends its input.
    case end
    /// The connection closes.
    case closed

    static func send(_ messages: String...) -> Step { .send(messages) }
    static func expect(_ messages: String...) -> Step { .expect(messages) }
    static func expect(all messages: [String]) -> Step { .expect(messages) }
    static var expectNothing: Step { .expect([]) }
    static func order(_ name: String, _ orders: Orders.Order...) -> Step { .order(name, orders) }
  }

  let testDescription: String
  let steps: [Step]

  init(_ description: String, _ steps: Step...) {
    testDescription = description
    self.steps = steps
  }

  /// Runs the script with both framings. Each message arrives whole, or byte by byte, or takes so
  /// long that other clients are served after every second message.
  func run() async throws {
    for framing in Framing.allCases {
      for byteByByte in [false, true] {
        try await run(TestClient(World(), framing), byteByByte: byteByByte)
      }
      let time = TestTime(.milliseconds(5))
      try await run(TestClient(World(), framing, now: time.now), byteByByte: false)
    }
  }

  private func run(_ client: TestClient, byteByByte: Bool) async throws {
    for step in steps {
      switch step {
      case .send(let messages):
        if byteByByte {
          client.sendByteByByte(messages)
        } else {
          client.send(bytes: client.bytes(of: messages))
        }
        client.continueUntilIdle()
      case .expect(let messages):
        try await client.expect(all: messages, "\(testDescription), \(client.framing)")
      case .order(let name, let orders):
        for order in orders { client.world.orders.tell(name, order) }
      case .end:
        client.tell(.inputEnded)
        client.continueUntilIdle()
      case .closed:
        #expect(client.isClosed, "\(testDescription), \(client.framing)")
      }
    }
  }
}
