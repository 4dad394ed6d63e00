// SPDX-License-Identifier: Apache-2.0

import Wire

/// The input of a WebSocket. The events must not depend on how the stream is split into chunks, a
/// message must be within the limit, a text message must be UTF-8, and no event may follow the end.
enum WebSockets {
  private static let limit = 500

  static func run(_ stream: [UInt8]) {
    let whole = events(in: stream, size: max(1, stream.count))
    let cut = events(in: stream, size: 1 + stream.count % 11)
    expect(whole == cut, "the result depends on the cuts of the stream: \(whole) and \(cut)")
  }

  private static func events(in stream: [UInt8], size: Int) -> [String] {
    var reader = WebSocketReader(maximumMessageBytes: limit)
    var events: [String] = []
    var hasEnded = false
    var rest = stream[...]
    while !rest.isEmpty {
      var chunk = Array(rest.prefix(size))
      rest = rest.dropFirst(size)
      chunk.withUnsafeMutableBytes { bytes in
        reader.read(bytes) { event in
          expect(!hasEnded, "an event follows the end")
          switch event {
          case .message(let bytes, let isText):
            expect(bytes.count <= limit, "a message longer than the limit")
            if isText {
              let text = String(validating: bytes, as: UTF8.self)
              expect(text != nil, "a text message that is not UTF-8")
              events.append("text \(text ?? "")")
            } else {
              events.append("binary \(Array(bytes))")
            }
          case .tooLarge: events.append("too large")
          case .ping(let bytes): events.append("ping \(Array(bytes))")
          case .pong: events.append("pong")
          case .close(let code):
            hasEnded = true
            events.append("close \(code?.rawValue ?? 0)")
          case .fault(let code):
            hasEnded = true
            events.append("fault \(code.rawValue)")
          }
        }
      }
    }
    expect(!(hasEnded && reader.isInMessage), "a message continues after the end")
    return events
  }
}
