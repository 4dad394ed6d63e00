// SPDX-License-Identifier: Apache-2.0

/// An event that a `FrameReader` reports.
public enum FrameEvent {
  /// A whole frame; the bytes are valid only during the call.
  ///
  /// Its content has not been checked. It is empty after `Content-Length: 0`.
  case message(UnsafeRawBufferPointer)

  /// A frame that exceeds the limit. It is reported once and skipped; the reader continues with the
  /// next frame.
  case tooLarge

  /// An unusable header: the start of the next frame is unknown, so the reader ignores the rest of
  /// the stream.
  case unusableHeader(HeaderFault)

  /// Another protocol at the beginning of the stream; the reader ignores the stream.
  case foreign(ForeignProtocol)
}

@available(*, unavailable)
extension FrameEvent: Sendable {}

/// The reason why a stream cannot be read after a header block.
public enum HeaderFault: Error, Hashable {
  /// A line is not `Name: value`.
  case malformedLine
  /// The block is longer than `FrameReader.maximumHeaderBytes`.
  case tooLong
  /// The block has ended without a `Content-Length`.
  case missingLength
  /// The length is not only digits, or does not fit into a signed 64-bit integer.
  case invalidLength
  /// Two lengths differ.
  case conflictingLengths
  /// The stream has ended inside a header block or before the last byte of a body.
  case incomplete
}

extension HeaderFault: CustomStringConvertible {
  /// The fault in one line without bytes of the client, so that it can be sent to the client.
  public var description: String {
    switch self {
    case .malformedLine: "a header line is not \"Name: value\""
    case .tooLong: "the headers exceed \(FrameReader.maximumHeaderBytes) bytes"
    case .missingLength: "the headers have no Content-Length"
    case .invalidLength: "the Content-Length is not a usable number"
    case .conflictingLengths: "the headers have two different values of Content-Length"
    case .incomplete: "the stream ended inside a frame"
    }
  }
}
