// SPDX-License-Identifier: Apache-2.0

internal import Wire

/// The head of an HTTP/1 request.
///
/// All that is ever asked for is a file or a WebSocket, by a GET without a body. Reading that much
/// takes less than SwiftNIO's pipeline of HTTP handlers, which would have to be taken out again in
/// the middle of the stream, and trusts nobody else to agree on where the head ends and what an
/// upgrade is: whatever is not strictly a head is refused and the connection closed.
///
/// - Source: RFC 9112 §2 to §5, RFC 9110 §5.
struct RequestHead: Equatable {
  /// How long a head may be, with its line ends.
  static let maximumBytes = 16 * 1024
  private static let maximumFields = 100

  var method: String
  /// The path and the query that are asked for.
  var target: String
  /// The host that a target in absolute form names: it takes the place of the field `Host`.
  private(set) var authority: Authority?
  /// Whether it is HTTP/1.0, whose connections do not go on.
  var isOld: Bool
  /// The fields, with names in lower case.
  private(set) var fields: [Field]

  struct Field: Equatable {
    var name: String
    var value: String
  }

  /// What is no head.
  struct Fault: Error, Equatable {
    var status: Status
  }

  /// Reads the head that bytes begin with.
  ///
  /// - Parameter bytes: What has come of the connection, and has not been used.
  /// - Returns: The head and how many bytes it has; nil while it has no end.
  /// - Throws: `Fault`, after which nothing more can be read.
  static func read(
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
        // RFC 9112 §2.2: empty lines before a request are passed over.
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
  /// - Source: RFC 9112 §3.2.1, §3.2.2; RFC 9110 §4.2 (schemes without regard to case; a host is not
  ///   empty, a user name is not accepted).
  private static func target(_ text: String) -> (authority: Authority?, target: String)? {
    if text.hasPrefix("/") { return (nil, text) }
    guard let scheme = text.firstRange(of: "://"),
      ["http", "https"].contains(text[..<scheme.lowerBound].asciiLowercased)
    else { return nil }
    let end = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
    guard let authority = Authority(text[scheme.upperBound..<end]) else { return nil }
    // An empty path is `/`.
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

// MARK: - What it says

extension RequestHead {
  /// The value of a field that may be there once; nil if there is none, or several.
  func only(_ name: String) -> String? {
    let values = fields.filter { $0.name == name }
    return values.count == 1 ? values[0].value : nil
  }

  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// The tokens of a field that is a list, and may be there several times.
  func tokens(in name: String) -> [Substring] {
    fields.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map {
      $0.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
    }
  }

  /// Whether a field that is a list has some token, in whatever case.
  func has(_ token: String, in name: String) -> Bool {
    tokens(in: name).contains { $0.isSame(ignoringASCIICase: token) }
  }

  /// The path that is asked for, without a query.
  var path: String { String(target.prefix { $0 != "?" && $0 != "#" }) }

  /// Whether a body follows, which nothing here reads.
  var hasBody: Bool {
    has("transfer-encoding") || has("content-length") && only("content-length") != "0"
  }

  /// Whether the connection goes on after the answer.
  var keepsAlive: Bool { !isOld && !has("close", in: "connection") }

  /// Whether it asks for a WebSocket.
  var wantsWebSocket: Bool {
    !isOld && has("websocket", in: "upgrade") && has("upgrade", in: "connection")
  }
}
