// SPDX-License-Identifier: Apache-2.0

public import Wire

/// A reason why a client and a server cannot communicate.
public enum ClientError: Error, Hashable {
  /// The program could not be started; `errorNumber` is the `errno`.
  case notStarted(command: String, errorNumber: Int32)
  /// No connection could be opened; `reason` is the system's where it has one.
  case notConnected(ServerAddress, reason: String)
  /// A relay could not listen; `reason` is the system's where it has one.
  case notListening(ServerAddress, reason: String)
  /// The file of a certificate or key cannot be read, or has other content.
  case unusableFile(path: String, reason: String)
  /// The certificate and the key do not belong together.
  case unusableFiles(reason: String)
  /// A message is longer than the limit of this client.
  case messageTooLarge
  /// The server's header block is malformed, so the stream cannot be read any further.
  case unusableHeader(HeaderFault)
  /// The server uses another framing than the client.
  case otherFraming(Framing)
  /// The client has closed the connection.
  case closed
  /// The server has closed the connection, and nothing more can be sent.
  case ended
  /// No TLS connection can be made: the server uses another protocol, or is not trusted.
  case noTLS(reason: String)
  /// The server did not open a WebSocket; `response` is what it sent.
  case noWebSocket(response: String)
}

extension ClientError: CustomStringConvertible {
  /// The object and the cause, in one line.
  public var description: String {
    switch self {
    case .notStarted(let command, let errorNumber):
      "\(command) could not be started: \(systemMessage(errorNumber))"
    case .notConnected(let address, let reason): "\(address) cannot be reached: \(reason)"
    case .notListening(let address, let reason): "cannot listen at \(address): \(reason)"
    case .unusableFile(let path, let reason): "\(path) cannot be used: \(reason)"
    case .unusableFiles(let reason):
      "the certificate and the key cannot be used together: \(reason)"
    case .messageTooLarge: "the server sent a message that is larger than this client accepts"
    case .unusableHeader(let fault): "the server sent a malformed header block: \(fault)"
    case .otherFraming(let framing):
      "the server uses another framing (\(framing.name)); connect with that one"
    case .closed: "the connection has been closed"
    case .ended: "the server has closed the connection"
    case .noTLS(let reason): "cannot make a TLS connection to the server: \(reason)"
    case .noWebSocket(let response): "the server did not open a WebSocket; it sent \(response)"
    }
  }
}
