// SPDX-License-Identifier: Apache-2.0

public import Sessions

/// Something that the output of a client does when a turn is over.
public enum OutputAction {
  case write([UInt8])
  case broadcast(BroadcastBuffer, from: Int)
  /// Bytes that were left unread are wanted again.
  case read
  /// Others are served before the client's next message.
  case yieldToOthers
  /// What the client has asked for gets a limited time.
  case expireLater
  /// Ends the output once everything written has been sent.
  case endOutput
  /// Closes when the client ends its direction, or after a short time.
  case awaitInputEnd
  /// Closes now, with what has not been sent.
  case close
}
