// SPDX-License-Identifier: Apache-2.0

/// The way back to a peer, on the shard's loop.
public protocol ConnectionOutput: AnyObject {
  /// Sends bytes after all those before them; takes a copy.
  func write(_ bytes: UnsafeRawBufferPointer)

  /// How many bytes wait for the peer to read them.
  var waitingBytes: Int { get }

  /// Ends the connection once everything written has gone out.
  func close()
}
