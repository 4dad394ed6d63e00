// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Makes the buffers that a connection is read into: one for each read, given back after it.
///
/// A channel keeps the first that it is given for as long as it lives, whether it is of use or not; with
/// thousands of connections that say nothing that one has to be small. The others are not kept.
struct ReceiveBuffers: RecvByteBufferAllocator {
  private var hasRead: Bool
  private let capacity: Int

  /// Buffers for a new connection.
  init() {
    hasRead = false
    capacity = Self.usualCapacity
  }

  /// Buffers for a connection that has been read from.
  ///
  /// - Parameter isInLargeFrame: True if much more of one frame is to come: since such a connection waits for others before
  ///   each read, it is read from in larger parts.
  init(isInLargeFrame: Bool) {
    hasRead = true
    capacity = isInLargeFrame ? Self.largeCapacity : Self.usualCapacity
  }

  func buffer(allocator: ByteBufferAllocator) -> ByteBuffer {
    allocator.buffer(capacity: hasRead ? capacity : Self.firstCapacity)
  }

  mutating func record(actualReadBytes: Int) -> Bool {
    hasRead = true
    // As much as to say: ask for another one, and do not take the one that is kept.
    return true
  }

  private static var firstCapacity: Int { 16 }
  private static var usualCapacity: Int { 16 << 10 }
  private static var largeCapacity: Int { 256 << 10 }
}
