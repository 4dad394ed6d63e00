// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The head of an HTTP/1 request.
///
/// Clients only request a file or a WebSocket, by a GET or HEAD without a body. This parser is
/// smaller than SwiftNIO's pipeline of HTTP handlers, which would have to be removed in the middle
/// of the stream. It is also the only place that decides where a head ends and what an upgrade is:
/// anything that is not strictly a head is refused, and the connection closes.
///
/// - Source: RFC 9112 §2 to §5, RFC 9110 §5.
package struct RequestHead: Equatable {
  /// The largest size of a head with its line ends: 16 KiB.
  static let maximumBytes = 16 * 1024
  private static let maximumFields = 100

  package var method: String
  /// The path and the query of the request target.
  package var target: String
  /// The host of a target in absolute form, which replaces the field `Host`; nil for a target in
  /// origin form.
  package private(set) var authority: Authority?
  /// True for HTTP/1.0, whose connections close after one response.
  package var isOld: Bool
  /// The fields in their order, with names in lower case.
  private(set) var fields: [Field]

  struct Field: Equatable {
    var name: String
    var value: String
  }

  /// A violation of the syntax or limits of a head, with the status to respond with.
  package struct Fault: Error, Equatable {
    package var status: Status
  }

  /// Parses the head at the start of `bytes`.
  ///
  /// - Complexity: O(n) in the bytes of the head; an incomplete head is parsed again with more
  ///   bytes.
  /// - Parameter bytes: The unprocessed bytes of the connection.
  /// - Returns: The head and its size in bytes; nil if it is not complete.
  /// - Throws: `Fault`; the connection cannot be read any further.
  package static func read(
    _ bytes: UnsafeRawBufferPointer
  ) throws(Fault) -> (head: RequestHead, byteCount: Int)? {
    var lines: [UnsafeRawBufferPointer] = []
    var start = 0
    while let length = firstNewline(bytes, from: start) {
      guard length > 0, bytes[start + length - 1] == 0x0D else { throw Fault(status: .badRequest) }
      let line = UnsafeRawBufferPointer(rebasing: bytes[start..<(start + length - 1)])
      start += length + 1
      guard start <= maximumBytes else { throw Fault(status: .fieldsTooLarge) }
      if line.isEmpty {
        // RFC 9112 §2.2: empty lines before a request are skipped.
        if lines.isEmpty { continue }
        return (try RequestHead(lines), start)
      }
      lines.append(line)
      guard lines.count <= maximumFields + 1 else { throw Fault(status: .fieldsTooLarge) }
    }
    guard bytes.count < maximumBytes else { throw Fault(status: .fieldsTooLarge) }
    return nil
  }

  private static func firstNewline(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    bytes[start...].firstIndex(of: 0x0A).map { $0 - start }
  }

  private init(_ lines: [UnsafeRawBufferPointer]) throws(Fault) {
    let parts = lines[0].split(separator: 0x20, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(Self.isToken),
      parts[1].allSatisfy({ (0x21...0x7E).contains($0) }),
      let (authority, target) = Self.target(String(decoding: parts[1], as: UTF8.self))
    else { throw Fault(status: .badRequest) }
    switch String(decoding: parts[2], as: UTF8.self) {
    case "HTTP/1.1": isOld = false
    case "HTTP/1.0": isOld = true
    default: throw Fault(status: .badRequest)
    }
    method = String(decoding: parts[0], as: UTF8.self)
    self.target = target
    self.authority = authority
    fields = []
    for line in lines.dropFirst() { fields.append(try Self.field(line)) }
  }

  /// Splits a request target; nil if it is neither in origin form nor in absolute form.
  ///
  /// - Source: RFC 9112 §3.2.1, §3.2.2; RFC 9110 §4.2 (schemes ignore case; a host is not empty; a
  ///   user name is not accepted).
  private static func target(_ text: String) -> (authority: Authority?, target: String)? {
    if text.hasPrefix("/") { return (nil, text) }
    guard let scheme = text.firstRange(of: "://"),
      ["http", "https"].contains(text[..<scheme.lowerBound].asciiLowercased)
    else { return nil }
    let end = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    guard let authority = Authority(text[scheme.upperBound..<end]) else { return nil }
    // An empty path means `/`.
    return (authority, (text[end...].hasPrefix("/") ? "" : "/") + text[end...])
  }

  private static func field(_ line: UnsafeRawBufferPointer) throws(Fault) -> Field {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0,
      line[..<colon].allSatisfy(isToken)
    else { throw Fault(status: .badRequest) }
    let value = line[(colon + 1)...].trimmingBlanks
    guard value.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
      throw Fault(status: .badRequest)
    }
    return Field(
      name: String(decoding: line[..<colon], as: UTF8.self).asciiLowercased,
      value: String(decoding: value, as: UTF8.self))
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default:
      "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}

// MARK: - Contents

extension RequestHead {
  /// Returns the value of a field that may occur once; nil if it is missing or occurs several
  /// times.
  package func only(_ name: String) -> String? {
    let values = fields.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }

  package func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// Returns the tokens of a list field, which may occur several times.
  func tokens(in name: String) -> [Substring] {
    fields.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map {
      $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
    }
  }

  /// Returns true if a list field contains a token, ignoring ASCII case.
  func has(_ token: String, in name: String) -> Bool {
    tokens(in: name).contains { $0.isSame(ignoringASCIICase: token) }
  }

  /// The path without the query.
  package var path: String { String(target.prefix { $0 != "?" && $0 != "#" }) }

  /// True if a body follows the head. Bodies are not read.
  package var hasBody: Bool {
    has("transfer-encoding") || has("content-length") && only("content-length") != "0"
  }

  /// True if the connection stays open after the response.
  var keepsAlive: Bool { !isOld && !has("close", in: "connection") }

  /// True if the client requests an upgrade to a WebSocket.
  var wantsWebSocket: Bool {
    !isOld && has("websocket", in: "upgrade") && has("upgrade", in: "connection")
  }
}
