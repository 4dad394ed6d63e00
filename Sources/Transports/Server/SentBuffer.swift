// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// The bytes of a broadcast buffer, in the memory that all channels share.
final class SentBuffer {
  private let buffer: ByteBuffer

  init(_ buffer: ByteBuffer) { self.buffer = buffer }

  /// Returns the bytes from an offset on, without a copy.
  func bytes(from start: Int) -> ByteBuffer {
    var rest = buffer
    rest.moveReaderIndex(forwardBy: start)
    return rest
  }
}
