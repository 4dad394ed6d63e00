// SPDX-License-Identifier: Apache-2.0

import Sessions
import StatewireJSON
import Testing

@testable import Delivery

@Suite("Outbox")
struct OutboxTests {
  @Test(
    "the outbox returns the bytes in order, in pieces of any size, while bytes are added",
    arguments: 0..<20)
  func model(seed: UInt64) {
    var numbers = FixedNumbers(seed: seed)
    var outbox = Outbox()
    var expected: ArraySlice<UInt8> = []
    for step in 0..<2_000 {
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0, 1:
        let bytes = (0..<Int.random(in: 0...9, using: &numbers)).map {
          UInt8(truncatingIfNeeded: step + $0)
        }
        outbox.add(.bytes(bytes))
        expected += bytes
      case 2 where step % 7 == 0:
        let waited = outbox.byteCount
        outbox.add(.unwritten(UnwrittenFrame(expectedBytes: 2) { $0.raw([1, 2, 3]) }))
        #expect(outbox.byteCount == waited + 2 && outbox.hasLargeFrame)
        // No later bytes are sent before these.
        while case .bytes = outbox.first {
          let bytes = outbox.takeBytes(100)
          #expect(Array(bytes) == Array(expected.prefix(bytes.count)))
          expected.removeFirst(bytes.count)
        }
        #expect(expected.isEmpty && !outbox.isEmpty)
        outbox.replaceFirst(with: .awaited(UnwrittenFrame(expectedBytes: 2) { _ in }))
        #expect(outbox.takeBytes(100).isEmpty && outbox.hasLargeFrame)
        outbox.replaceFirst(with: .bytes([1, 2, 3]))
        #expect(!outbox.hasLargeFrame)
        expected += [1, 2, 3]
      default:
        let bytes = outbox.takeBytes(Int.random(in: 1...12, using: &numbers))
        #expect(bytes.isEmpty == expected.isEmpty)
        #expect(Array(bytes) == Array(expected.prefix(bytes.count)))
        expected.removeFirst(bytes.count)
        #expect(expected.isEmpty == outbox.isEmpty)
      }
      #expect(outbox.byteCount == expected.count)
    }
  }

  @Test("the outbox releases bytes that were taken, also while more bytes are pending")
  func memory() {
    var outbox = Outbox()
    var bytes = [UInt8](repeating: 1, count: 1_000)
    outbox.add(.bytes(bytes))
    outbox.add(.bytes([2]))
    for room in [400, 600] {
      let taken = outbox.takeBytes(room)
      #expect(taken.count == room)
    }
    // A uniquely referenced array changes its elements in place.
    let place = bytes.withUnsafeBufferPointer(\.baseAddress)
    bytes[0] = 3
    #expect(bytes.withUnsafeBufferPointer(\.baseAddress) == place)
    #expect(outbox.byteCount == 1)
  }
}
