// SPDX-License-Identifier: Apache-2.0

/// Immutable bytes that several clients receive.
public final class BroadcastBuffer {
  /// The bytes.
  public let bytes: [UInt8]
  /// The bytes in the form that an output sends; the first output stores it for all others.
  public var sent: AnyObject?

  init(_ bytes: [UInt8]) { self.bytes = bytes }
}
