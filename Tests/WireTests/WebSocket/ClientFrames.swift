// SPDX-License-Identifier: Apache-2.0

import Wire

/// A frame that a client sends.
struct ClientFrame {
  var opcode: UInt8
  var payload: [UInt8]
  var isLast = true
  var reserved: UInt8 = 0
  var mask: [UInt8]? = [0x37, 0xFA, 0x21, 0x3D]

  static func text(_ text: String, isLast: Bool = true) -> ClientFrame {
    ClientFrame(opcode: 1, payload: Array(text.utf8), isLast: isLast)
  }

  static func more(_ text: String, isLast: Bool = true) -> ClientFrame {
    ClientFrame(opcode: 0, payload: Array(text.utf8), isLast: isLast)
  }

  static func ping(_ text: String = "") -> ClientFrame {
    ClientFrame(opcode: 9, payload: Array(text.utf8))
  }

  static func close(_ code: UInt16, _ reason: [UInt8] = []) -> ClientFrame {
    ClientFrame(opcode: 8, payload: [UInt8(code >> 8), UInt8(code & 0xFF)] + reason)
  }

  var bytes: [UInt8] {
    var bytes = [(isLast ? 0x80 : 0) | reserved << 4 | opcode]
    let maskBit: UInt8 = mask == nil ? 0 : 0x80
    switch payload.count {
    case ...125: bytes.append(maskBit | UInt8(payload.count))
    case ...0xFFFF:
      bytes += [maskBit | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes.append(maskBit | 127)
      bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) }
    }
    guard let mask else { return bytes + payload }
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }
}

/// A `WebSocketEvent` with copied bytes, so that it can be kept and compared.
enum SeenWebSocketEvent: Hashable {
  case text(String)
  case binary([UInt8])
  case tooLarge
  case ping(String)
  case pong
  case close(UInt16?)
  case fault(UInt16)

  init(_ event: WebSocketEvent) {
    switch event {
    case .message(let bytes, true): self = .text(String(decoding: bytes, as: UTF8.self))
    case .message(let bytes, false): self = .binary(Array(bytes))
    case .tooLarge: self = .tooLarge
    case .ping(let bytes): self = .ping(String(decoding: bytes, as: UTF8.self))
    case .pong: self = .pong
    case .close(let code): self = .close(code?.rawValue)
    case .fault(let code): self = .fault(code.rawValue)
    }
  }
}

extension WebSocketReader {
  /// Returns the events for the chunks.
  mutating func events(in chunks: [[UInt8]]) -> [SeenWebSocketEvent] {
    var events: [SeenWebSocketEvent] = []
    for chunk in chunks {
      var chunk = chunk
      chunk.withUnsafeMutableBytes { bytes in
        read(bytes) { events.append(SeenWebSocketEvent($0)) }
      }
    }
    return events
  }
}
