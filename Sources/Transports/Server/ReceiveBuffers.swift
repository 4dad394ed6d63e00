// SPDX-License-Identifier: Apache-2.0

package import NIOCore

/// The buffers that a connection reads into: one for each read, released after it.
///
/// A channel keeps its first buffer as long as it lives, used or not, so the first one is small:
/// thousands of connections may send nothing. Later buffers are not kept.
package struct ReceiveBuffers: RecvByteBufferAllocator {
  private var hasRead: Bool
  private let capacity: Int

  /// Creates buffers for a new connection.
  init() {
    hasRead = false
    capacity = Self.usualCapacity
  }

  /// Creates buffers for a connection that has been read from.
  ///
  /// - Parameter isInLargeFrame: True if much more of one frame is expected. Such a connection
  ///   waits for other clients before each read, so it reads in larger parts.
  package init(isInLargeFrame: Bool) {
    hasRead = true
    capacity = isInLargeFrame ? Self.largeCapacity : Self.usualCapacity
  }

  package func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
    allocator.buffer(capacity: hasRead ? capacity : Self.firstCapacity)
  }

  package mutating func record(actualReadBytes: Int) -> Bool {
    hasRead = true
    // `true` requests a new buffer; the channel would otherwise use its kept one.
    return true
  }

  private static var firstCapacity: Int { 16 }
  private static var usualCapacity: Int { 16 << 10 }
  private static var largeCapacity: Int { 256 << 10 }
}
