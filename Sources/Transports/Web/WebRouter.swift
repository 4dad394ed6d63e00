// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Wire

/// What becomes of an HTTP request.
enum WebDecision {
  case answer(WebAnswer)
  /// A file is read first, which takes a moment; then `answer(_:with:)` says what the answer is.
  case read(WebFolder, names: [String])
  /// The connection is a WebSocket from here on.
  case upgrade(accept: String, subprotocol: String?, isEcho: Bool)
}

/// Decides on requests; made once for all connections.
///
/// A browser lets any page open a WebSocket to any server, and says which page it is; and it finds
/// the address of a server by a name that may be the page's own. So two things are looked at that no
/// other client has to do with: `Origin`, and, where only this machine is served, whether `Host` is a
/// name that means it.
struct WebRouter: Sendable {
  private let files: [String: WebFile]
  private let folder: WebFolder?
  private let origins: Set<Origin>
  /// Names of this server beside those of the machine.
  private let hosts: Set<String>
  private let hasEcho: Bool

  /// - Throws: `StartupError` if what is to be an origin or a folder is none.
  init(_ site: WebSite) throws(StartupError) {
    var files: [String: WebFile] = [:]
    for (name, content) in site.files {
      files["/" + name] = WebFile(name: name, content: ByteBuffer(bytes: content))
    }
    self.files = files
    folder = site.folder.map { WebFolder(path: $0) }
    if let folder, !folder.exists { throw StartupError("\(folder.path) is no folder") }
    var origins: Set<Origin> = []
    for text in site.origins {
      guard let origin = Origin(text) else {
        throw StartupError("\(text) is no origin, such as https://example.org")
      }
      origins.insert(origin)
    }
    self.origins = origins
    hosts = Set(origins.compactMap { $0.authority?.host })
    hasEcho = site.hasEcho
  }

  /// What becomes of a request.
  ///
  /// - Parameters:
  ///   - head: The request.
  ///   - isLoopback: Whether it came to an address that only this machine has.
  func decide(_ head: RequestHead, isLoopback: Bool) -> WebDecision {
    guard head.method == "GET" || head.method == "HEAD" else {
      return .answer(
        WebAnswer(
          .methodNotAllowed, "files are read, with GET or HEAD", fields: [("Allow", "GET, HEAD")]))
    }
    guard !head.hasBody else {
      return .answer(WebAnswer(.badRequest, "a request for a file has no body"))
    }
    let field = head.only("host").flatMap { Authority($0) }
    // Before HTTP/1.1 nobody had to name it, and no browser is that old.
    guard field != nil || head.isOld && !head.has("host") else {
      return .answer(WebAnswer(.badRequest, "a request names its host, once"))
    }
    guard let host = head.authority ?? field else { return file(head) }
    guard !isLoopback || host.isLoopback || hosts.contains(host.host) else {
      return .answer(
        WebAnswer(
          .forbidden, "\(host.host) is no name of this server (see --web-origin)"))
    }
    let isSocket = head.path == "/" || hasEcho && head.path == "/echo"
    if head.wantsWebSocket, head.method == "GET" {
      guard isSocket else {
        return .answer(WebAnswer(.notFound, "the WebSocket is at /"))
      }
      return webSocket(head, host)
    }
    if isSocket, head.path != "/" {
      return .answer(
        WebAnswer(
          .upgradeRequired, "this is a WebSocket",
          fields: [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]))
    }
    return file(head)
  }

  private func webSocket(_ head: RequestHead, _ host: Authority) -> WebDecision {
    if head.has("origin") {
      guard let origin = head.only("origin").flatMap({ Origin($0) }),
        origin.isSame(as: host) || origins.contains(origin)
      else {
        return .answer(
          WebAnswer(.forbidden, "pages from elsewhere may not use this server (see --web-origin)"))
      }
    }
    guard head.only("sec-websocket-version") == "13" else {
      return .answer(
        WebAnswer(
          .upgradeRequired, "a WebSocket is of version 13",
          fields: [("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]))
    }
    guard let key = head.only("sec-websocket-key"), WebSocketHandshake.isKey(key) else {
      return .answer(WebAnswer(.badRequest, "Sec-WebSocket-Key is 16 bytes in Base64"))
    }
    return .upgrade(
      accept: WebSocketHandshake.accept(for: key),
      subprotocol: WebSocketHandshake.subprotocol(
        of: head.tokens(in: "sec-websocket-protocol")), isEcho: head.path == "/echo")
  }

  private func file(_ head: RequestHead) -> WebDecision {
    if let folder, let names = WebFolder.names(in: Self.name(of: head.path)) {
      return .read(folder, names: names)
    }
    return .answer(answer(head, with: .missing))
  }

  /// The answer to a request for a file.
  /// - Parameters:
  ///   - head: The request.
  ///   - reading: What the folder has under that name.
  func answer(_ head: RequestHead, with reading: WebFolder.Reading) -> WebAnswer {
    let file: WebFile?
    switch reading {
    case .file(let found, _): file = found
    case .missing: file = files[Self.name(of: head.path)]
    case .busy:
      return WebAnswer(
        .unavailable, "too much is being sent; ask again", fields: [("Retry-After", "1")])
    }
    guard let file else {
      var answer = WebAnswer(.notFound, "there is no such file")
      answer.closes = !head.keepsAlive
      return answer
    }
    return WebAnswer(file, for: head)
  }

  private static func name(of path: String) -> String { path == "/" ? "/index.html" : path }
}
