// SPDX-License-Identifier: Apache-2.0

@testable import Wire

/// A `FrameEvent` that can be kept and compared.
enum SeenEvent: Equatable {
  case message([UInt8])
  case tooLarge
  case unusableHeader(HeaderFault)
  case foreign(ForeignProtocol)

  init(_ event: FrameEvent) {
    switch event {
    case .message(let bytes): self = .message([UInt8](bytes))
    case .tooLarge: self = .tooLarge
    case .unusableHeader(let fault): self = .unusableHeader(fault)
    case .foreign(let other): self = .foreign(other)
    }
  }

  static func message(_ text: String) -> SeenEvent { .message([UInt8](text.utf8)) }
}

extension FrameReader {
  mutating func read(_ bytes: some Sequence<UInt8>) -> [SeenEvent] {
    var seen: [SeenEvent] = []
    [UInt8](bytes).withUnsafeBytes { bytes in
      read(bytes) { seen.append(SeenEvent($0)) }
    }
    return seen
  }

  mutating func finish() -> [SeenEvent] {
    var seen: [SeenEvent] = []
    finish { seen.append(SeenEvent($0)) }
    return seen
  }
}

/// What a fresh reader finds in a stream that comes in these chunks and then ends.
func events(in chunks: [some Sequence<UInt8>], limit: Int) -> [SeenEvent] {
  var reader = FrameReader(maximumFrameBytes: limit)
  var seen: [SeenEvent] = []
  for chunk in chunks { seen += reader.read(chunk) }
  return seen + reader.finish()
}
