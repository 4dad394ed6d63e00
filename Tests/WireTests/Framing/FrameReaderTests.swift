// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Wire

@Suite("Frame reader")
struct FrameReaderTests {
  /// Checks a case with its stream split at the offsets.
  func check(_ framingCase: FramingCase, cutAt offsets: [Int]) {
    let stream = framingCase.stream
    let bounds = [0] + offsets + [stream.count]
    let chunks = zip(bounds, bounds.dropFirst()).map { stream[$0..<$1] }
    #expect(
      events(in: chunks, limit: FramingCase.limit) == framingCase.events,
      "\(framingCase.name), split at \(offsets)")
  }

  @Test("the reader finds the frames of a stream in one chunk", arguments: FramingCase.all)
  func atOnce(_ framingCase: FramingCase) {
    check(framingCase, cutAt: [])
  }

  @Test("the reader finds the same frames byte by byte", arguments: FramingCase.all)
  func byteByByte(_ framingCase: FramingCase) {
    check(framingCase, cutAt: Array(framingCase.stream.indices))
  }

  @Test(
    "the reader finds the same frames in two chunks, split at any offset",
    arguments: FramingCase.all)
  func inTwo(_ framingCase: FramingCase) {
    for offset in framingCase.stream.indices { check(framingCase, cutAt: [offset]) }
  }

  @Test(
    "the reader finds the same frames in three chunks, split at any offsets",
    arguments: FramingCase.all.filter { $0.stream.count <= 64 })
  func inThree(_ framingCase: FramingCase) {
    for first in framingCase.stream.indices {
      for second in framingCase.stream.indices[first...] {
        check(framingCase, cutAt: [first, second])
      }
    }
  }

  @Test("the first bytes that are not white space select the framing")
  func framing() {
    for (stream, framing) in [
      ("", nil), (" \r\n\t", nil), ("{", .lines), ("[", .lines), ("x", nil), ("\n {C", .lines),
      ("Content-Length", nil), ("Content-Length:", .headers), ("\n content-type:", .headers),
    ] as [(String, Framing?)] {
      var reader = FrameReader(maximumFrameBytes: 16)
      _ = reader.read(stream.utf8)
      #expect(reader.framing == framing, "\(stream.debugDescription)")
    }
  }

  @Test("a frame within one chunk is passed without a copy")
  func inPlace() {
    for stream in ["{\"a\":1}\n{}\r\n", "Content-Length: 2\r\n\r\n{}"] {
      var reader = FrameReader(maximumFrameBytes: 16)
      [UInt8](stream.utf8).withUnsafeBytes { chunk in
        reader.read(chunk) { event in
          guard case .message(let bytes) = event, let start = bytes.baseAddress,
            let chunkStart = chunk.baseAddress
          else {
            Issue.record("expected a message")
            return
          }
          let offset = start - chunkStart
          #expect(offset >= 0 && offset + bytes.count <= chunk.count)
        }
      }
      #expect(reader.bufferedCapacity == 0)
    }
  }

  @Test("a line is reported as too large before its end")
  func tooLargeAtOnce() {
    var reader = FrameReader(maximumFrameBytes: 16)
    #expect(reader.read(repeatElement(0x5B, count: 17)) == [.tooLarge])
    #expect(reader.read(repeatElement(0x78, count: 1000)) == [])
    #expect(reader.read("\n{}\n".utf8) == [.message("{}")])
  }

  @Test("nothing is read after an unusable header or after the end of the stream")
  func ended() {
    var reader = FrameReader(maximumFrameBytes: 16)
    #expect(reader.read("Content-Type: 1\r\n\r\n".utf8) == [.unusableHeader(.missingLength)])
    #expect(reader.read("Content-Length: 2\r\n\r\n{}".utf8) == [])
    #expect(reader.finish() == [])

    reader = FrameReader(maximumFrameBytes: 16)
    #expect(reader.read("{}".utf8) == [])
    #expect(reader.finish() == [.message("{}")])
    #expect(reader.read("{}\n".utf8) == [])
    #expect(reader.finish() == [])
  }

  @Test("the size of a header block is bounded, in one line or in many")
  func headerBound() {
    let length = "Content-Length: 2\r\n"
    let filler = FrameReader.maximumHeaderBytes - length.utf8.count - "\r\n".utf8.count
    let line = "X: " + String(repeating: "x", count: filler - 5) + "\r\n"
    let lines = String(repeating: "X: x\r\n", count: filler / 6)
    let rest = String(repeating: "X", count: filler % 6 + 2) + ": x\r\n"
    for headers in [line, String(lines.dropFirst(1)) + rest] {
      let tooMuch = [UInt8]((length + "X" + headers + "\r\n{}").utf8)
      for chunks in [[tooMuch], tooMuch.map { [$0] }] {
        #expect(events(in: chunks, limit: 16) == [.unusableHeader(.tooLong)])
      }
    }
    let justFits = [UInt8]((length + line + "\r\n{}").utf8)
    for chunks in [[justFits], justFits.map { [$0] }] {
      #expect(events(in: chunks, limit: 16) == [.message("{}")])
    }
  }
}
