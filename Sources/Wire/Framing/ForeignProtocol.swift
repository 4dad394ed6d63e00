// SPDX-License-Identifier: Apache-2.0

/// A protocol other than JSON-RPC that a stream begins with.
public enum ForeignProtocol: String, Sendable {
  case http
  case tls
  case ssh
  /// None of these; for example text, or JSON that is neither an object nor an array.
  case other
}

extension ForeignProtocol: CustomStringConvertible {
  /// One line that a client can be shown.
  public var description: String {
    switch self {
    case .http: "this port does not speak HTTP, but JSON-RPC 2.0; use the port of --web"
    case .tls: "this port speaks JSON-RPC 2.0 without TLS"
    case .ssh: "this port does not speak SSH, but JSON-RPC 2.0"
    case .other:
      "a connection begins with a JSON object or array, or with Content-Length or Content-Type"
    }
  }

  /// A complete HTTP response, for a client that can read no other.
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
