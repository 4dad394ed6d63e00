// SPDX-License-Identifier: Apache-2.0

public import Wire

extension Connection {
  /// A copy of a `FrameEvent` that waits.
  public enum Arrival: Sendable {
    /// A message.
    case message([UInt8])
    /// A message that is too large.
    case tooLarge
    /// An unusable header, after which the stream cannot be read.
    case unusableHeader(HeaderFault)
    /// The start of another protocol.
    case foreign(ForeignProtocol)

    /// Copies a frame.
    public init(_ event: FrameEvent) {
      switch event {
      case .message(let bytes): self = .message(Array(bytes))
      case .tooLarge: self = .tooLarge
      case .unusableHeader(let fault): self = .unusableHeader(fault)
      case .foreign(let other): self = .foreign(other)
      }
    }

    /// Calls `body` with the frame.
    func withEvent(_ body: (FrameEvent) -> Void) {
      switch self {
      case .message(let bytes): bytes.withUnsafeBytes { body(.message($0)) }
      case .tooLarge: body(.tooLarge)
      case .unusableHeader(let fault): body(.unusableHeader(fault))
      case .foreign(let other): body(.foreign(other))
      }
    }
  }
}
