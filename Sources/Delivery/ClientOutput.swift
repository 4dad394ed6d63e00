// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// The transport's end of a client's output, on the shard's loop.
///
/// Its methods are called when a turn is over, in the order of the writer's actions; `isCongested` and `waitingBytes`
/// also within turns.
public protocol ClientOutput: AnyObject {
  /// Sends bytes after all those before them, now or when the loop has served others; takes a copy.
  func write(_ bytes: UnsafeRawBufferPointer)

  /// Sends the bytes of a buffer from an offset on, which several outputs are given one after the other.
  ///
  /// An output that keeps what it sends may keep it once for all of them (`BroadcastBuffer.sent`).
  func write(_ buffer: BroadcastBuffer, from start: Int)

  /// True while the client reads so slowly that more bytes would only have to wait.
  ///
  /// Once that is over, the connection is notified, but never from inside `write`.
  var isCongested: Bool { get }

  /// Number of bytes that wait for the client to read them.
  var waitingBytes: Int { get }

  /// Bytes that were left unread, since the connection did not want them, are wanted now.
  func wantsBytesAgain()

  /// Serves other clients, then notifies the connection in a turn of its own.
  func yieldToOthers()

  /// Notifies the connection once open requests have had a limited time.
  func expireLater()

  /// Ends the output once everything written has been sent.
  func endOutput()

  /// Closes when the client ends its direction, or after a short time.
  func awaitInputEnd()

  /// Closes now, with what has not been sent.
  func close()
}

extension ClientOutput {
  public func write(_ buffer: BroadcastBuffer, from start: Int) {
    buffer.bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }
}
