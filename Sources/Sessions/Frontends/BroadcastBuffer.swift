// SPDX-License-Identifier: Apache-2.0

/// Bytes that several clients receive.
public final class BroadcastBuffer {
  public let bytes: [UInt8]
  /// The same in the form in which an output sends it, kept by the first output for all others.
  public var sent: AnyObject?

  init(_ bytes: [UInt8]) { self.bytes = bytes }
}
