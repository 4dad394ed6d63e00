// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Transports

@Suite("What is held back of a text")
struct HeldTextTests {
  @Test("goes out in its order, once")
  func order() {
    var held = HeldText()
    for part in ["one", "two", "three"] { held.add(ByteBuffer(string: part)) }
    #expect(held.byteCount == 11)
    var taken: [String] = []
    held.takeAll { taken.append(String(buffer: $0)) }
    #expect(taken == ["one", "two", "three"])
    #expect(held.isEmpty)
    #expect(held.byteCount == 0)
    held.takeAll { taken.append(String(buffer: $0)) }
    #expect(taken.count == 3)
  }

  @Test("is full with 64 KiB, be they many parts or one")
  func full() {
    var held = HeldText()
    held.add(ByteBuffer(repeating: 0x20, count: 65_535))
    #expect(!held.isFull)
    held.add(ByteBuffer(repeating: 0x20, count: 1))
    #expect(held.isFull)
    held.takeAll { _ in }
    #expect(!held.isFull)
    held.add(ByteBuffer(repeating: 0x20, count: 65_536))
    #expect(held.isFull)
  }
}
