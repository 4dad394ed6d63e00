// SPDX-License-Identifier: Apache-2.0

/// A protocol other than JSON-RPC that a client started to use.
public enum ForeignProtocol: String, Sendable {
  /// An HTTP request.
  case http
  /// A TLS handshake.
  case tls
  /// An SSH connection.
  case ssh
  /// Other bytes, for example text, or JSON that is neither an object nor an array.
  case other
}

extension ForeignProtocol: CustomStringConvertible {
  /// The reason why the client cannot be served, one line that can be sent to the client.
  public var description: String {
    switch self {
    case .http: "this port accepts JSON-RPC 2.0, not HTTP; use the port of --web"
    case .tls: "this port accepts JSON-RPC 2.0 without TLS"
    case .ssh: "this port accepts JSON-RPC 2.0, not SSH"
    case .other:
      "a connection must begin with a JSON object or array, or with Content-Length or Content-Type"
    }
  }

  /// A complete HTTP response with the reason, because an HTTP client cannot read another protocol.
  public static let httpResponse: [UInt8] = {
    let text = "\(ForeignProtocol.http)\n"
    return Array(
      """
      HTTP/1.1 400 Bad Request\r
      Content-Type: text/plain\r
      Content-Length: \(text.utf8.count)\r
      Connection: close\r
      \r
      \(text)
      """.utf8)
  }()
}
