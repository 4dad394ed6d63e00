// SPDX-License-Identifier: Apache-2.0

/// A side of a relayed connection.
public enum RelaySide: Sendable {
  /// The client.
  case client
  /// The server.
  case server
}

/// A receiver of copies of relayed bytes.
///
/// It is called on any thread, for each connection in the order of its bytes, before they are
/// passed on. The relay waits for it, so a slow receiver slows both sides down.
public protocol RelayTap: Sendable {
  /// Returns the identifier of a new connection.
  func opened() -> Int

  /// Takes bytes that one side has sent.
  func received(_ bytes: UnsafeRawBufferPointer, from side: RelaySide, on connection: Int)

  /// Called when one side sends nothing more; `isAbrupt` if it also receives nothing more.
  func ended(_ side: RelaySide, of connection: Int, isAbrupt: Bool)

  /// Takes the reason why a connection could not be made or was cut, in one line.
  func failed(_ connection: Int, reason: String)
}
