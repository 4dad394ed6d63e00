// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import Transports
internal import Wire

/// A request to the console: its path below `/console`, the parameters of its query, and its body.
struct ConsoleRequest {
  let method: String
  /// The path without `/console`; empty for the page.
  let path: String
  private let parameters: [String: String]
  let body: [UInt8]
  /// The operator whose token the request has; nil if the interface needs no token.
  let operatorName: String?

  /// The path of the page. All other paths of the console begin with it and a slash.
  static let root = "/console"
  /// The largest body: an input of a store.
  static let maximumBody = 256 << 10

  /// Returns true if a path is one of the console.
  static func isOfConsole(_ path: String) -> Bool {
    path == root || path.hasPrefix(root + "/")
  }

  /// Returns true if a path is one of the console's JSON interface.
  static func isOfInterface(_ path: String) -> Bool { path.hasPrefix(root + "/api/") }

  /// Creates a request from its head and its body.
  init(_ head: RequestHead, body: [UInt8], by operatorName: String?) {
    self.operatorName = operatorName
    method = head.method
    path = String(head.path.dropFirst(Self.root.count))
    self.body = body
    let query = head.target.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" }
    var parameters: [String: String] = [:]
    for part in query.split(separator: "&") {
      let (name, value) =
        part.firstIndex(of: "=").map {
          (part[..<$0], part[part.index(after: $0)...])
        } ?? (part, "")
      guard let name = Self.decoded(name), let value = Self.decoded(value) else { continue }
      parameters[name] = value
    }
    self.parameters = parameters
  }

  /// Returns a parameter of the query; nil if it is missing.
  subscript(name: String) -> String? { parameters[name] }

  /// The body as JSON; nil if it is not an object.
  var object: JSONObject? { (try? JSONValue(parsing: body))?.object }

  /// Returns the reason to refuse a request before its body is read; nil if it is served.
  ///
  /// Any page can make a browser send requests to this machine. So the origin must be this server,
  /// nothing changes by GET, and the body of a POST has a type that the form of another page cannot
  /// send without a preflight request, which is refused.
  static func refusal(of head: RequestHead, for host: Authority?) -> WebResponse? {
    guard ["GET", "HEAD", "POST"].contains(head.method) else {
      return WebResponse(
        .methodNotAllowed, "only GET, HEAD and POST are supported",
        fields: [("Allow", "GET, HEAD, POST")])
    }
    if head.has("origin") {
      guard let host, let origin = head.only("origin").flatMap({ Origin($0) }),
        origin.matches(host)
      else { return WebResponse(.forbidden, "the page is not one of this server") }
    }
    if let site = head.only("sec-fetch-site"), site != "same-origin", site != "none",
      isOfInterface(head.path)
    {
      return WebResponse(.forbidden, "the request comes from another site")
    }
    guard head.method == "POST" else {
      return head.hasBody ? WebResponse(.badRequest, "a request must not have a body") : nil
    }
    guard let type = head.only("content-type"), type.asciiLowercased == "application/json" else {
      return WebResponse(.forbidden, "a POST must have the Content-Type application/json")
    }
    guard let length = bodyLength(of: head) else {
      return WebResponse(.badRequest, "a POST must have one valid Content-Length")
    }
    return length <= maximumBody ? nil : WebResponse(.badRequest, "the body is too large")
  }

  /// Returns the length of a body; nil if it is missing or malformed.
  static func bodyLength(of head: RequestHead) -> Int? {
    guard head.method == "POST" else { return 0 }
    guard !head.has("transfer-encoding"), let text = head.only("content-length"),
      text.isASCIIDigits, !text.isEmpty
    else { return nil }
    return Int(text)
  }

  /// Decodes the percent-encoding of a part of a query; nil if it is malformed.
  ///
  /// - Source: RFC 3986 §2.1.
  private static func decoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let digits = String(rest.prefix(2)), digits.utf8.count == 2,
        digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-"),
        let byte = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
