// SPDX-License-Identifier: Apache-2.0

/// The transport of a connection, on the shard's loop.
///
/// Its methods are called when a turn is over, in the order of the connection's actions; `isCongested`, `waitingBytes`
/// and `admit` also within turns.
public protocol ConnectionOutput: AnyObject {
  /// Sends bytes after all those before them, now or when the loop has heard others; takes a copy.
  func write(_ bytes: UnsafeRawBufferPointer)

  /// Sends what is in a buffer from some byte on, which several outputs are given one after the other.
  ///
  /// One that keeps what it sends may keep it once for all of them (`BroadcastBuffer.sent`).
  func write(_ buffer: BroadcastBuffer, from start: Int)

  /// Whether the peer reads so slowly that more bytes would only have to wait.
  ///
  /// Once that is over, the connection is told `caughtUp`, but never from inside `write`.
  var isCongested: Bool { get }

  /// How many bytes wait for the peer to read them.
  var waitingBytes: Int { get }

  /// Bytes that were left unread, since the connection did not want them, are wanted now.
  func wantsBytesAgain()

  /// Hears others, and then tells the connection `othersHeard`, in a turn of its own.
  func hearOthers()

  /// Tells the connection `timeIsUp` once what the peer has asked for has had its time.
  func expireLater()

  /// Takes note of whose connection it is from now on.
  /// - Returns: False, and nothing is noted, if the identity has as many as it may have.
  func admit(_ identity: Identity) -> Bool

  /// Ends the output once everything written has been sent, and tells the connection `outputEnded` if there is an input
  /// to wait for.
  func endOutput()

  /// Closes when the client ends its direction, or after a short time.
  func awaitInputEnd()

  /// Closes now, with what has not been sent.
  func close()
}

extension ConnectionOutput {
  public func write(_ buffer: BroadcastBuffer, from start: Int) {
    buffer.bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }

  public func admit(_ identity: Identity) -> Bool { true }
}
