// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
internal import Wire

/// The decision about an HTTP request.
enum WebDecision {
  case response(WebResponse)
  /// A file must be opened first, on another thread; then `response(_:with:)` makes the response.
  case open(WebFolder, names: [String])
  /// The connection becomes a WebSocket.
  case upgrade(accept: String, subprotocol: String?, isEcho: Bool)
}

/// A router of HTTP requests; one value for all connections.
///
/// Any page can make a browser open a WebSocket to any server; the browser sends the origin of the
/// page. A page can also use a name of its own domain that resolves to this server's address (DNS
/// rebinding). So the router checks two fields that other clients do not need: `Origin`, and on
/// loopback addresses `Host`, which must be a name of this machine.
struct WebRouter: Sendable {
  private let files: [String: WebFile]
  private let folder: WebFolder?
  /// The threads that open and read the files of the folder; nil for those of SwiftNIO.
  let fileThreads: NIOThreadPool?
  private let origins: Set<Origin>
  /// Names of this server, in addition to those of loopback.
  private let hosts: Set<String>
  private let hasEcho: Bool
  /// The `Content-Security-Policy` of all responses.
  let policy: String

  /// - Throws: `StartupError` if an origin or the policy of the site is malformed, or its folder
  ///   does not exist.
  init(_ site: WebSite) throws(StartupError) {
    try site.checkPolicy()
    var files: [String: WebFile] = [:]
    for (name, content) in site.files {
      files["/" + name] = WebFile(name: name, content: ByteBuffer(bytes: content))
    }
    self.files = files
    folder = site.folder.map { WebFolder(path: $0) }
    fileThreads = site.fileThreads
    if let folder, !folder.exists {
      throw StartupError("cannot serve the files in \(folder.path): it is not a folder")
    }
    var origins: Set<Origin> = []
    for text in site.origins {
      guard let origin = Origin(text) else {
        throw StartupError("\(text) is not an origin; use one like https://example.org")
      }
      origins.insert(origin)
    }
    self.origins = origins
    hosts = Set(origins.compactMap { $0.authority?.host })
    hasEcho = site.hasEcho
    policy = site.contentSecurityPolicy
  }

  /// Decides about a request.
  ///
  /// - Parameters:
  ///   - head: The request.
  ///   - isLoopback: True if the client has connected to a loopback address of this machine.
  func decide(_ head: RequestHead, isLoopback: Bool) -> WebDecision {
    guard head.method == "GET" || head.method == "HEAD" else {
      return .response(
        WebResponse(
          .methodNotAllowed, "only GET and HEAD are supported", fields: [("Allow", "GET, HEAD")]))
    }
    guard !head.hasBody else {
      return .response(WebResponse(.badRequest, "a request must not have a body"))
    }
    let field = head.only("host").flatMap { Authority($0) }
    // RFC 9112 §3.2 requires the field since HTTP/1.1; no browser uses HTTP/1.0.
    guard field != nil || head.isOld && !head.has("host") else {
      return .response(WebResponse(.badRequest, "a request must have exactly one valid Host field"))
    }
    guard let host = head.authority ?? field else { return file(head) }
    guard !isLoopback || host.isLoopback || hosts.contains(host.host) else {
      return .response(
        WebResponse(
          .forbidden, "\(host.host) is not a name of this server; allow it with --web-origin"))
    }
    let isSocket = head.path == "/" || hasEcho && head.path == "/echo"
    if head.wantsWebSocket, head.method == "GET" {
      guard isSocket else {
        return .response(WebResponse(.notFound, "there is no WebSocket at this path; use /"))
      }
      return webSocket(head, host)
    }
    if isSocket, head.path != "/" {
      return .response(
        WebResponse(
          .upgradeRequired, "this path only accepts WebSockets",
          fields: [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]))
    }
    return file(head)
  }

  private func webSocket(_ head: RequestHead, _ host: Authority) -> WebDecision {
    if head.has("origin") {
      guard let origin = head.only("origin").flatMap({ Origin($0) }),
        origin.matches(host) || origins.contains(origin)
      else {
        return .response(
          WebResponse(
            .forbidden, "the origin of the page is not allowed; allow it with --web-origin"))
      }
    }
    guard head.only("sec-websocket-version") == "13" else {
      return .response(
        WebResponse(
          .upgradeRequired, "only version 13 of WebSocket is supported",
          fields: [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]))
    }
    guard let key = head.only("sec-websocket-key"), WebSocketHandshake.isKey(key) else {
      return .response(WebResponse(.badRequest, "Sec-WebSocket-Key must be 16 bytes in Base64"))
    }
    return .upgrade(
      accept: WebSocketHandshake.accept(for: key),
      subprotocol: WebSocketHandshake.subprotocol(
        of: head.tokens(in: "sec-websocket-protocol")), isEcho: head.path == "/echo")
  }

  private func file(_ head: RequestHead) -> WebDecision {
    if let folder, let names = WebFolder.names(in: Self.name(of: head.path)) {
      return .open(folder, names: names)
    }
    return .response(response(head, with: .missing))
  }

  /// Makes the response to a request for a file.
  /// - Parameters:
  ///   - head: The request.
  ///   - opening: The result of opening the file in the folder.
  func response(_ head: RequestHead, with opening: WebFolder.Opening) -> WebResponse {
    let file: WebFile?
    switch opening {
    case .file(let found): file = found
    case .missing: file = files[Self.name(of: head.path)]
    case .unusable: file = nil
    case .busy:
      return WebResponse(
        .unavailable, "no file descriptor is free; try again", fields: [("Retry-After", "1")])
    }
    guard let file else {
      var response = WebResponse(.notFound, "there is no file at this path")
      response.closes = !head.keepsAlive
      return response
    }
    return WebResponse(file, for: head)
  }

  private static func name(of path: String) -> String { path == "/" ? "/index.html" : path }
}
