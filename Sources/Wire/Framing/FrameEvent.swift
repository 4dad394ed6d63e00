// SPDX-License-Identifier: Apache-2.0

/// What a `FrameReader` found in a stream.
public enum FrameEvent {
  /// One whole frame; the bytes are valid during the call that hands them out.
  ///
  /// What is inside has not been looked at. It is empty after `Content-Length: 0`.
  case message(UnsafeRawBufferPointer)

  /// A frame exceeds the limit. It is reported once and skipped; the next one is served.
  case tooLarge

  /// Where the next frame starts cannot be known. Nothing more is read from the stream.
  case unusableHeader(HeaderFault)

  /// The stream begins with another protocol. Nothing of it is read.
  case foreign(ForeignProtocol)
}

@available(*, unavailable)
extension FrameEvent: Sendable {}

/// Why nothing behind some header block can be read.
public enum HeaderFault: Error, Hashable {
  /// A line is not `Name: value`.
  case malformedLine
  /// The block is longer than `FrameReader.maximumHeaderBytes`.
  case tooLong
  /// The block has ended without a `Content-Length`.
  case missingLength
  /// The length is not just digits, or no signed integer of 64 bits can hold it.
  case invalidLength
  /// Two lengths differ.
  case conflictingLengths
  /// The stream has ended inside a header block or before the last byte of a body.
  case incomplete
}

extension HeaderFault: CustomStringConvertible {
  /// One line that a peer can be shown.
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
