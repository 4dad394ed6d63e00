// SPDX-License-Identifier: Apache-2.0

public import Wire

/// Why a client cannot talk to a server.
public enum ClientError: Error, Hashable {
  /// The program could not be started; `errorNumber` is the system's.
  case notStarted(command: String, errorNumber: Int32)
  /// No connection could be opened; `reason` is the system's where it has one.
  case notConnected(ServerAddress, reason: String)
  /// A certificate or a key cannot be read, or is none.
  case unusableFile(path: String, reason: String)
  /// Certificate and key cannot be used together.
  case unusableFiles(reason: String)
  /// A message is larger than the client takes.
  case messageTooLarge
  /// The server's header block cannot be used, so nothing behind it can be read.
  case unusableHeader(HeaderFault)
  /// The server speaks, but not in the framing in which it was addressed.
  case otherFraming(Framing)
  /// The connection has been closed from this side.
  case closed
  /// The server has closed the connection, which was to be written to.
  case ended
  /// There can be no TLS with the server: it speaks otherwise, or is not whom it should be.
  case noTLS(reason: String)
  /// The server opens no WebSocket; `answer` is what it says instead.
  case noWebSocket(answer: String)
}

extension ClientError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notStarted(let command, let errorNumber):
      "\(command) could not be started: \(systemMessage(errorNumber))"
    case .notConnected(let address, let reason): "\(address) cannot be reached: \(reason)"
    case .unusableFile(let path, let reason): "\(path) cannot be used: \(reason)"
    case .unusableFiles(let reason):
      "the certificate and the key cannot be used together: \(reason)"
    case .messageTooLarge: "the server sent a message that is larger than this client takes"
    case .unusableHeader(let fault): "the server's framing cannot be read: \(fault)"
    case .otherFraming(let framing): "the server answered in the other framing (\(framing.name))"
    case .closed: "the connection has been closed"
    case .ended: "the server has closed the connection"
    case .noTLS(let reason): "no TLS with the server: \(reason)"
    case .noWebSocket(let answer): "the server opened no WebSocket: \(answer)"
    }
  }
}
