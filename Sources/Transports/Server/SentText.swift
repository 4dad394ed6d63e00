// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// A text that many follow, as the bytes that all their channels send.
final class SentText {
  private let buffer: ByteBuffer

  init(_ buffer: ByteBuffer) { self.buffer = buffer }

  /// What stands in it from some byte on, without a copy.
  func bytes(from start: Int) -> ByteBuffer {
    var rest = buffer
    rest.moveReaderIndex(forwardBy: start)
    return rest
  }
}
