// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// What is served over HTTP beside the WebSocket, and to the pages of whom that is open.
public struct WebSite: Sendable {
  /// The files by their paths, `index.html` being that of `/`.
  public var files: [String: [UInt8]]
  /// A folder whose files are served before those, as they are when they are asked for; nil: none.
  public var folder: String?
  /// Sites, such as `https://example.org`, whose pages may open the WebSocket beside those that come
  /// from this server. Their hosts are names of this server too, where it is reached by loopback.
  public var origins: [String]
  /// Whether `/echo` is a WebSocket that sends back what it is sent, for tests of the protocol.
  public var hasEcho: Bool

  /// - Parameters:
  ///   - files: The files by their paths, without the first `/`.
  ///   - folder: A folder whose files are served before those.
  ///   - origins: Sites whose pages may open the WebSocket.
  ///   - hasEcho: Whether there is `/echo`.
  public init(
    files: [String: [UInt8]] = [:], folder: String? = nil, origins: [String] = [],
    hasEcho: Bool = false
  ) {
    self.files = files
    self.folder = folder
    self.origins = origins
    self.hasEcho = hasEcho
  }
}

/// One file, as it is served.
struct WebFile: Sendable {
  let content: ByteBuffer
  let type: String
  /// What tells one content from another.
  let tag: String

  init(name: String, content: ByteBuffer) {
    self.content = content
    type = Self.type(of: name)
    // Sixty-four bits of FNV-1a, and the length.
    let hash = content.readableBytesView.reduce(0xCBF2_9CE4_8422_2325 as UInt64) {
      ($0 ^ UInt64($1)) &* 0x100_0000_01B3
    }
    tag = "\"\(String(hash, radix: 16))-\(content.readableBytes)\""
  }

  /// - Source: the registry of media types at IANA; RFC 9239 (JavaScript).
  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last.map(String.init) {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js", "mjs": "text/javascript; charset=utf-8"
    case "json", "map": "application/json"
    case "webmanifest": "application/manifest+json"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "ico": "image/vnd.microsoft.icon"
    case "woff2": "font/woff2"
    case "txt", "md", "ts": "text/plain; charset=utf-8"
    default: "application/octet-stream"
    }
  }
}
