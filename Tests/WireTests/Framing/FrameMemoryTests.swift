// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("Frame reader: memory")
struct FrameMemoryTests {
  /// Reads the chunks and returns the maximum memory that was kept after a chunk, and the events.
  func mostKept(
    _ reader: inout FrameReader, _ chunks: some Sequence<[UInt8]>
  ) -> (kept: Int, events: [SeenEvent]) {
    var kept = 0
    var events: [SeenEvent] = []
    for chunk in chunks {
      events += reader.read(chunk)
      kept = max(kept, reader.bufferedCapacity)
    }
    return (kept, events)
  }

  @Test("a body of many gigabytes is skipped without being buffered")
  func hugeBody() {
    var reader = FrameReader(maximumFrameBytes: 1 << 20)
    let (kept, events) = mostKept(
      &reader,
      CollectionOfOne([UInt8]("Content-Length: 9223372036854775807\r\n\r\n".utf8))
        + Array(repeating: [UInt8](repeating: 0x43, count: 1 << 16), count: 256))
    #expect(events == [.tooLarge])
    #expect(kept == 0)
  }

  @Test("a large declared length reserves no memory")
  func declaredBody() {
    var reader = FrameReader(maximumFrameBytes: 1 << 30)
    let (kept, events) = mostKept(
      &reader, [[UInt8]("Content-Length: 1073741824\r\n\r\n{".utf8)])
    #expect(events == [])
    #expect(kept <= 64)
  }

  @Test("an endless line is skipped without being buffered")
  func endlessLine() {
    let limit = 1 << 12
    var reader = FrameReader(maximumFrameBytes: limit)
    let (kept, events) = mostKept(
      &reader, Array(repeating: [UInt8](repeating: 0x5B, count: 100), count: 10_000))
    #expect(events == [.tooLarge])
    #expect(kept <= 2 * limit)
    #expect(reader.bufferedCapacity == 0)
  }

  @Test("endless white space is skipped without being buffered")
  func endlessSpace() {
    for start in ["", "{}\n", "Content-Length: 2\r\n\r\n{}"] {
      var reader = FrameReader(maximumFrameBytes: 16)
      _ = reader.read(start.utf8)
      let (kept, events) = mostKept(
        &reader, Array(repeating: [UInt8](repeating: 0x20, count: 100), count: 10_000))
      #expect(events == [])
      #expect(kept == 0)
    }
  }

  @Test("too many headers are an error at the maximum header size")
  func headerFlood() {
    for line in ["X-Flood: x\r\n", "x"] {
      var reader = FrameReader(maximumFrameBytes: 1 << 20)
      let (kept, events) = mostKept(
        &reader,
        CollectionOfOne([UInt8]("Content-Length: 2\r\n".utf8))
          + Array(repeating: [UInt8](line.utf8), count: 100_000))
      #expect(events == [.unusableHeader(.tooLong)])
      #expect(kept <= 2 * FrameReader.maximumHeaderBytes)
      #expect(reader.bufferedCapacity == 0)
    }
  }

  @Test("a large buffer is released after its frame")
  func givenBack() {
    let large = [UInt8](repeating: 0x5B, count: 1 << 18)
    for framing in Framing.allCases {
      let frame = FrameWriter(framing: framing).frame(large)
      var reader = FrameReader(maximumFrameBytes: 1 << 20)
      let half = frame.count / 2
      #expect(reader.read(frame[..<half]) == [])
      #expect(reader.bufferedCapacity >= half / 2)
      #expect(reader.read(frame[half...]) + reader.finish() == [.message(large)])
      #expect(reader.bufferedCapacity == 0)
    }
  }
}
