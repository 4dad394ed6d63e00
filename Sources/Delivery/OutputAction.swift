// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// An operation of a client's output, performed when the turn is over.
public enum OutputAction {
  /// Sends bytes.
  case write([UInt8])
  /// Sends the bytes of a broadcast buffer from an offset to the end.
  case broadcast(BroadcastBuffer, from: Int)
  /// Resumes reading of the bytes that were left unread.
  case read
  /// Serves other clients before the client's next message.
  case yieldToOthers
  /// Starts the time limit of the client's open requests.
  case expireLater
  /// Ends the output after everything written has been sent.
  case endOutput
  /// Closes the connection when the client ends its direction, or after a short time.
  case awaitInputEnd
  /// Replaces the connection by one on another shard.
  case handOver
  /// Closes the connection immediately and discards the bytes that have not been sent.
  case close
}
