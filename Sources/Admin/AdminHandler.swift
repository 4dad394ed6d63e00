// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Transports

/// Serves one request of a client of the admin interface, then closes the connection.
final class AdminHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let status: ServerStatus
  /// The protection; nil if only this machine can reach the interface.
  private let access: AdminAccess?
  private let connection: AdminConnection
  /// The console; nil without one.
  private let console: Console?
  private var received = ByteBuffer()
  private var phase = Phase.receiving
  private var timeout: Scheduled<Void>?

  enum Phase {
    /// The request is not complete.
    case receiving
    /// The request is being carried out.
    case responding
    /// The client is sent the response.
    case sending

    /// The time for the phase, after which the connection is closed.
    var time: TimeAmount {
      switch self {
      case .receiving, .sending: .seconds(10)
      case .responding: Console.timeToReply + .seconds(10)
      }
    }
  }

  /// - Parameters:
  ///   - status: The status of the server.
  ///   - access: The protection; nil if only this machine can reach the interface.
  ///   - connection: The connection, whose handler is before this one.
  ///   - console: The console; nil without one.
  init(
    _ status: ServerStatus, _ access: AdminAccess?, _ connection: AdminConnection,
    _ console: Console?
  ) {
    (self.status, self.access, self.console) = (status, access, console)
    self.connection = connection
  }

  /// The time for all event loops to respond.
  private static let timeToRespond = TimeAmount.seconds(2)
  private static let noConsole = """
    the console is not available: a server with --token-file needs operator tokens for it; pass \
    --admin-token-file
    """

  func channelActive(context: ChannelHandlerContext) {
    begin(.receiving, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timeout?.cancel()
    context.fireChannelInactive()
  }

  private func begin(_ phase: Phase, _ context: ChannelHandlerContext) {
    self.phase = phase
    connection.isServed = phase == .responding
    timeout?.cancel()
    let bound = NIOLoopBound(connection, eventLoop: context.eventLoop)
    timeout = context.eventLoop.scheduleTask(in: phase.time) { bound.value.abandon() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase == .receiving else { return }
    var bytes = unwrapInboundIn(data)
    received.writeBuffer(&bytes)
    do throws(RequestHead.Fault) {
      let read = try received.withUnsafeReadableBytes { bytes throws(RequestHead.Fault) in
        try RequestHead.read(bytes)
      }
      guard let (head, byteCount) = read else { return }
      if let console, ConsoleRequest.isOfConsole(head.path) {
        return respond(to: head, byteCount, by: console, context)
      }
      begin(.responding, context)
      respond(to: head, context)
    } catch {
      send(WebResponse(error.status, "the head of the request is malformed or too large"), context)
    }
  }

  /// Closes the connection of a client that has ended its output before a whole request. After a whole
  /// request, the client still receives the response.
  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent, phase == .receiving {
      context.close(promise: nil)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }

  private func respond(to head: RequestHead, _ context: ChannelHandlerContext) {
    if let refusal = refusal(of: head) { return send(refusal, context) }
    let isHeadOnly = head.method == "HEAD"
    switch head.path {
    case "/readyz":
      let readiness = status.readiness
      var response = WebResponse(readiness == .ready ? .ok : .unavailable, readiness.line)
      response.isHeadOnly = isHeadOnly
      send(response, context)
    case "/healthz":
      checkLoops(isHeadOnly: isHeadOnly, context)
    case "/metrics":
      var response = WebResponse(
        status.metrics.prometheusText, type: MetricsReading.contentType)
      response.isHeadOnly = isHeadOnly
      send(response, context)
    case let path where ConsoleRequest.isOfConsole(path):
      send(WebResponse(.notFound, Self.noConsole), context)
    default:
      send(WebResponse(.notFound, "there is /healthz, /readyz, /metrics and /console"), context)
    }
  }

  /// Returns the response to a request that is not served; nil if it is.
  ///
  /// Any page can make a browser send a request to this machine, under a name of its own domain; so
  /// the name must be one of this machine, unless the interface has a certificate, which has other
  /// names.
  private func refusal(of head: RequestHead) -> WebResponse? {
    if let access, access.operatorName(of: head) == nil {
      return WebResponse(.unauthorised, AdminAccess.reason, fields: [AdminAccess.challenge])
    }
    guard head.method == "GET" || head.method == "HEAD" else {
      return WebResponse(
        .methodNotAllowed, "only GET and HEAD are supported", fields: [("Allow", "GET, HEAD")])
    }
    guard !head.hasBody else {
      return WebResponse(.badRequest, "a request must not have a body")
    }
    return refusal(ofHost: head)
  }

  /// Returns the response to a request whose host is not accepted; nil if it is.
  private func refusal(ofHost head: RequestHead) -> WebResponse? {
    guard let host = Self.host(of: head) else {
      return head.isOld && !head.has("host")
        ? nil : WebResponse(.badRequest, "a request must have exactly one valid Host field")
    }
    return host.isLoopback || access?.certificate != nil
      ? nil : WebResponse(.forbidden, "\(host.host) is not a name of this machine")
  }

  private static func host(of head: RequestHead) -> Authority? {
    head.authority ?? head.only("host").flatMap { Authority($0) }
  }

  /// Passes a request to the console when its body is complete.
  ///
  /// The files of the page, which asks for the token, need none.
  private func respond(
    to head: RequestHead, _ byteCount: Int, by console: Console, _ context: ChannelHandlerContext
  ) {
    let operatorName = access?.operatorName(of: head)
    let isRefused =
      access != nil && operatorName == nil && ConsoleRequest.isOfInterface(head.path)
    let unauthorised = isRefused ? ConsoleResponse.unauthorised.web : nil
    if let refusal = refusal(ofHost: head) ?? unauthorised
      ?? ConsoleRequest.refusal(of: head, for: Self.host(of: head))
    {
      return send(refusal, context)
    }
    let length = ConsoleRequest.bodyLength(of: head) ?? 0
    guard received.readableBytes >= byteCount + length else { return }
    begin(.responding, context)
    let body = received.readableBytesView.dropFirst(byteCount).prefix(length)
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    console.response(to: head, body: Array(body), by: operatorName).whenSuccess { response in
      var response = response
      response.isHeadOnly = head.method == "HEAD"
      let (handler, context) = bound.value
      handler.send(response, context, policy: ConsoleFiles.policy)
    }
  }

  private func checkLoops(isHeadOnly: Bool, _ context: ChannelHandlerContext) {
    let alive = context.eventLoop.makePromise(of: Bool.self)
    let late = context.eventLoop.scheduleTask(in: Self.timeToRespond) { alive.succeed(false) }
    status.whenAlive { alive.succeed(true) }
    let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    alive.futureResult.whenSuccess { isAlive in
      late.cancel()
      var response =
        isAlive ? WebResponse(.ok, "alive") : WebResponse(.unavailable, "an event loop is busy")
      response.isHeadOnly = isHeadOnly
      let (handler, context) = bound.value
      handler.send(response, context)
    }
  }

  private func send(
    _ response: WebResponse, _ context: ChannelHandlerContext,
    policy: String = "default-src 'none'"
  ) {
    guard context.channel.isActive else { return }
    begin(.sending, context)
    let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(response.bytes(policy: policy)))
      .whenComplete { _ in bound.value.close(promise: nil) }
  }
}
