// SPDX-License-Identifier: Apache-2.0

package import NIOCore
internal import NIOPosix

/// The files that a server offers over HTTP, and the origins whose pages may open its WebSocket.
public struct WebSite: Sendable {
  /// The contents of files by their paths without the first `/`; `index.html` is also the file of
  /// `/`.
  public var files: [String: [UInt8]]
  /// A folder whose files take precedence over `files`. They are read for each request. A relative
  /// path is relative to the current folder of the process. Nil for none.
  public var folder: String?
  /// The threads that open and read the files of `folder`, because a disk can block them; nil for those
  /// of SwiftNIO, which it starts with the first file.
  var fileThreads: NIOThreadPool?
  /// Origins, such as `https://example.org`, whose pages may open the WebSocket, in addition to
  /// pages of this server. Their hosts are also accepted as names of this server on loopback
  /// addresses.
  public var origins: [String]
  /// The `Content-Security-Policy` of all responses: what browsers load and run for a page.
  public var contentSecurityPolicy: String
  /// True if `/echo` is a WebSocket that sends back each message, for protocol tests.
  public var hasEcho: Bool

  /// - Parameters:
  ///   - files: The contents of files by their paths, without the first `/`.
  ///   - folder: A folder whose files take precedence over `files`; nil for none.
  ///   - origins: Origins whose pages may open the WebSocket.
  ///   - contentSecurityPolicy: The policy that browsers apply to the page.
  ///   - hasEcho: True if there is an echo WebSocket at `/echo`.
  public init(
    files: [String: [UInt8]] = [:], folder: String? = nil, origins: [String] = [],
    contentSecurityPolicy: String = standardPolicy, hasEcho: Bool = false
  ) {
    self.files = files
    self.folder = folder
    self.origins = origins
    self.contentSecurityPolicy = contentSecurityPolicy
    self.hasEcho = hasEcho
  }

  /// The default policy: scripts, styles, fonts and images come from files of this server, and
  /// connections go to it or to WebSockets. Nothing else is loaded or run, no form is sent, and no
  /// page may embed the page.
  public static let standardPolicy = """
    default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; manifest-src 'self'; connect-src 'self' ws: wss:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'
    """

  /// Checks that the policy consists of directives; otherwise browsers would ignore it silently.
  ///
  /// - Throws: `StartupError`.
  /// - Source: Content Security Policy Level 3, §2.2.
  func checkPolicy() throws(StartupError) {
    let directives = contentSecurityPolicy.split(whereSeparator: { ";,".contains($0) })
      .map { $0.split(separator: " ") }.filter { !$0.isEmpty }
    let isVisible = contentSecurityPolicy.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    let areNamed = directives.allSatisfy { words in
      words[0].allSatisfy { $0.isLetter || $0 == "-" }
    }
    guard isVisible, areNamed, !directives.isEmpty else {
      throw StartupError(
        """
        "\(contentSecurityPolicy)" is not a content security policy; use directives like \
        default-src 'self'; img-src 'self' data:
        """)
    }
  }
}

/// One file as it is served.
package struct WebFile: Sendable {
  /// The content, or its first piece.
  let content: ByteBuffer
  /// The file that has the other pieces; nil if `content` is the whole content.
  let whole: FolderFile?
  let type: String
  /// The entity tag: it differs between contents.
  let tag: String

  package init(name: String, content: ByteBuffer) {
    var tag = ContentTag()
    tag.add(content)
    self.init(name: name, content: content, tag, whole: nil)
  }

  init(name: String, content: ByteBuffer, _ tag: ContentTag, whole: FolderFile?) {
    (self.content, self.whole) = (content, whole)
    type = Self.type(of: name)
    self.tag = tag.text
  }

  /// Returns the media type of a file's name.
  ///
  /// - Source: the registry of media types at IANA; RFC 9239 (JavaScript).
  private static func type(of name: String) -> String {
    switch name.split(separator: ".").last?.lowercased() {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js", "mjs": "text/javascript; charset=utf-8"
    case "json", "map": "application/json"
    case "webmanifest": "application/manifest+json"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    case "jpg", "jpeg": "image/jpeg"
    case "gif": "image/gif"
    case "webp": "image/webp"
    case "avif": "image/avif"
    case "ico": "image/vnd.microsoft.icon"
    case "woff2": "font/woff2"
    case "woff": "font/woff"
    case "ttf": "font/ttf"
    case "wasm": "application/wasm"
    case "pdf": "application/pdf"
    case "mp3": "audio/mpeg"
    case "mp4": "video/mp4"
    case "webm": "video/webm"
    case "txt", "md", "ts": "text/plain; charset=utf-8"
    default: "application/octet-stream"
    }
  }
}

/// The entity tag of a content: its hash and its length.
struct ContentTag {
  // FNV-1a of words of 64 bits. The shift lets the high bits of a word reach the low bits of the hash.
  private var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  private(set) var byteCount = 0

  /// Adds the next part of the content. All parts but the last consist of whole words.
  mutating func add(_ part: ByteBuffer) {
    part.withUnsafeReadableBytes { bytes in
      var offset = 0
      while offset + 8 <= bytes.count {
        add(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        offset += 8
      }
      while offset < bytes.count {
        add(UInt64(bytes[offset]))
        offset += 1
      }
    }
    byteCount += part.readableBytes
  }

  private mutating func add(_ word: UInt64) {
    hash = (hash ^ word) &* 0x100_0000_01B3
    hash ^= hash &>> 32
  }

  var text: String { "\"\(String(hash, radix: 16))-\(byteCount)\"" }
}
