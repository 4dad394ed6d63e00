// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// A transport's output for one client, on the shard's event loop.
///
/// The writer calls the methods when a turn is over, in the order of its actions. It reads
/// `isCongested` and `waitingBytes` also within turns.
public protocol ClientOutput: AnyObject {
  /// Sends a copy of the bytes after all bytes that were written before: immediately, or after the
  /// loop has served other clients.
  func write(_ bytes: UnsafeRawBufferPointer)

  /// Sends the bytes of a broadcast buffer from an offset to the end.
  ///
  /// Several outputs receive the same buffer one after the other. The first one may store the form
  /// that it sends in `BroadcastBuffer.sent` for all of them.
  func write(_ buffer: BroadcastBuffer, from start: Int)

  /// True while the client reads so slowly that additional bytes would only be queued.
  ///
  /// When it becomes false, the output notifies the connection, but never from within `write`.
  var isCongested: Bool { get }

  /// Number of bytes that are queued until the client reads.
  var waitingBytes: Int { get }

  /// Resumes reading: the connection accepts the bytes that it had left unread.
  func resumeReading()

  /// Serves other clients, then notifies the connection in a separate turn.
  func yieldToOthers()

  /// Notifies the connection when the time limit for its open requests has passed.
  func expireLater()

  /// Ends the output after everything written has been sent.
  func endOutput()

  /// Closes the connection when the client ends its direction, or after a short time.
  func awaitInputEnd()

  /// Replaces the connection by one on another shard, after everything written has been passed on.
  func handOver()

  /// Closes the connection immediately and discards the bytes that have not been sent.
  func close()
}

extension ClientOutput {
  /// Does nothing: an output of a single shard.
  public func handOver() {}

  /// Sends the bytes of a broadcast buffer from an offset to the end, as a copy.
  public func write(_ buffer: BroadcastBuffer, from start: Int) {
    buffer.bytes.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[start...])) }
  }
}
