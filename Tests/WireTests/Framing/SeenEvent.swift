// SPDX-License-Identifier: Apache-2.0

@testable import Wire

/// A `FrameEvent` with copied bytes, so that it can be kept and compared.
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

/// Returns the events of a new reader for a stream that consists of these chunks.
func events(in chunks: [some Sequence<UInt8>], limit: Int) -> [SeenEvent] {
  var reader = FrameReader(maximumFrameBytes: limit)
  var seen: [SeenEvent] = []
  for chunk in chunks { seen += reader.read(chunk) }
  return seen + reader.finish()
}
