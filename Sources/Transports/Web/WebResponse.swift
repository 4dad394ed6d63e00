// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import NIOCore

/// A status code of HTTP.
///
/// - Source: RFC 9110 §15.
package enum Status: Int {
  case switchingProtocols = 101
  case ok = 200
  case movedPermanently = 301
  case notModified = 304
  case badRequest = 400
  case unauthorised = 401
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case upgradeRequired = 426
  case fieldsTooLarge = 431
  case unavailable = 503

  var reason: String {
    switch self {
    case .switchingProtocols: "Switching Protocols"
    case .ok: "OK"
    case .movedPermanently: "Moved Permanently"
    case .notModified: "Not Modified"
    case .badRequest: "Bad Request"
    case .unauthorised: "Unauthorized"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .upgradeRequired: "Upgrade Required"
    case .fieldsTooLarge: "Request Header Fields Too Large"
    case .unavailable: "Service Unavailable"
    }
  }
}

/// A response to an HTTP request.
package struct WebResponse {
  var status: Status
  package var fields: [(name: String, value: String)] = []
  /// The body, or its first piece.
  package var body = ByteBuffer()
  /// The file with the other pieces of the body; nil if `body` is the whole body.
  var whole: FolderFile?
  /// True if the body is omitted. `Content-Length` is still its length.
  package var isHeadOnly = false
  /// True if the connection closes after the response.
  package var closes = false

  /// Creates the response for a file: its content, or status 304 if the client has the same
  /// content.
  package init(_ file: WebFile, for head: RequestHead) {
    let isKnown =
      head.only("if-none-match").map { known in
        known == "*" || known.split(separator: ",").contains { $0.contains(file.tag) }
      } ?? false
    status = isKnown ? .notModified : .ok
    fields = [("Content-Type", file.type), ("ETag", file.tag), ("Cache-Control", "no-cache")]
    if !isKnown { (body, whole) = (file.content, file.whole) }
    closes = !head.keepsAlive
  }

  /// Creates the response to a request that is not served, with one line of text.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - sentence: The reason for the user.
  ///   - fields: Additional fields.
  package init(
    _ status: Status, _ sentence: String, fields: [(name: String, value: String)] = []
  ) {
    self.status = status
    self.fields = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")]
    self.fields += fields
    body = ByteBuffer(string: sentence + "\n")
    closes = true
  }

  /// Creates the response with a text that is current only now.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - type: The content type.
  package init(_ text: String, type: String) {
    status = .ok
    fields = [("Content-Type", type), ("Cache-Control", "no-store")]
    body = ByteBuffer(string: text)
    closes = true
  }

  /// The part of the body that follows the head; empty for none.
  var sentBody: ByteBuffer { isHeadOnly ? ByteBuffer() : body }

  /// The file whose other pieces follow; nil for none.
  var rest: FolderFile? { isHeadOnly ? nil : whole }

  /// Encodes the response, except for the rest of a file.
  ///
  /// - Parameter policy: The content security policy of the site.
  package func bytes(policy: String) -> ByteBuffer {
    var bytes = head(policy: policy)
    bytes.writeImmutableBuffer(sentBody)
    return bytes
  }

  /// Encodes the head.
  ///
  /// - Parameter policy: The content security policy of the site.
  func head(policy: String) -> ByteBuffer {
    var text = "HTTP/1.1 \(status.rawValue) \(status.reason)\r\n"
    text += "Date: \(Self.date())\r\n"
    if status != .notModified {
      text += "Content-Length: \(whole?.byteCount ?? body.readableBytes)\r\n"
    }
    text += "Content-Security-Policy: \(policy)\r\n"
    for (name, value) in fields + Self.always { text += "\(name): \(value)\r\n" }
    if closes { text += "Connection: close\r\n" }
    text += "\r\n"
    return ByteBuffer(string: text)
  }

  /// Encodes the response that upgrades the connection to a WebSocket.
  static func upgrade(_ accept: String, subprotocol: String?) -> ByteBuffer {
    let subprotocol = subprotocol.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
    return ByteBuffer(
      string: """
        HTTP/1.1 101 Switching Protocols\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Accept: \(accept)\r
        \(subprotocol)\r\n
        """)
  }

  // Browsers must not guess the types of files, and other sites must not use them.
  private static let always: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// Formats the current time for the field `Date`.
  ///
  /// - Source: RFC 9110 §5.6.7 (IMF-fixdate), in the C locale, which the program uses.
  private static func date() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { dateBytes in
      let count = strftime(
        dateBytes.baseAddress, dateBytes.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
      return String(
        decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(dateBytes)[..<count]),
        as: UTF8.self)
    }
  }
}
