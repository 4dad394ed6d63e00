// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOSSL
internal import ServerCore
internal import TransportSupport

/// Makes the handlers of each new connection, and decides whether it is accepted; on the event loop
/// of its channel only.
struct Acceptor: Sendable {
  /// The loops of the server; each channel has one of them.
  let loops: [ServingLoop]
  let settings: ServerSettings
  /// The certificate for TLS; nil if no listener uses TLS.
  let certificate: ServerCertificate?
  let web: WebRouter

  /// Returns the function that accepts the connections of a listener.
  ///
  /// - Throws: `StartupError` if there is no certificate for TLS.
  func accepting(
    at address: ServerAddress
  ) throws(StartupError) -> @Sendable (any Channel) -> EventLoopFuture<Void> {
    switch address {
    case .unix: return { accept(unix: $0) }
    case .tcp: return { accept(tcp: $0) }
    case .web: return { accept(web: $0) }
    case .tls, .secureWeb: break
    }
    guard let certificate else {
      throw StartupError("cannot listen on \(address): TLS requires a certificate")
    }
    if case .tls = address { return { accept(tls: $0, certificate) } }
    return { accept(secureWeb: $0, certificate) }
  }

  /// Accepts standard input and output. The time limits do not apply: the client is the process
  /// that started this program.
  func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
    enter(channel) { refusal in
      try channel.pipeline.syncOperations.addHandler(
        handler(channel, refusal, isRemote: false, over: .stdio))
    }
  }

  private func accept(unix channel: any Channel) -> EventLoopFuture<Void> {
    UnixClient.user(of: channel).flatMap { user in
      enter(channel, refusing: UnixClient.mayConnect(user: user) ? nil : .user) { refusal in
        try channel.pipeline.syncOperations.addHandler(
          handler(channel, refusal, isRemote: true, over: .unix))
      }
    }
  }

  private func accept(tcp channel: any Channel) -> EventLoopFuture<Void> {
    enter(channel) { refusal in
      try channel.pipeline.syncOperations.addHandler(
        handler(channel, refusal, isRemote: true, over: .tcp))
    }
  }

  private func accept(
    tls channel: any Channel, _ certificate: ServerCertificate
  ) -> EventLoopFuture<Void> {
    enter(channel) { refusal in
      try channel.pipeline.syncOperations.addHandler(
        NIOSSLServerHandler(context: certificate.context))
      // A refused client gets its reason after the handshake; nothing can be sent before it.
      try channel.pipeline.syncOperations.addHandler(
        refusal.map { RefusingHandler($0) }
          ?? HandshakeHandler(settings: settings, registry: registry(of: channel)) {
            handler(channel, nil, isRemote: true, over: .tls)
          })
    }
  }

  private func accept(web channel: any Channel) -> EventLoopFuture<Void> {
    enter(channel) { refusal in
      try channel.pipeline.syncOperations.addHandler(webHandler(channel, refusal, isSecure: false))
    }
  }

  private func accept(
    secureWeb channel: any Channel, _ certificate: ServerCertificate
  ) -> EventLoopFuture<Void> {
    enter(channel) { refusal in
      try channel.pipeline.syncOperations.addHandler(
        NIOSSLServerHandler(context: certificate.context))
      let handler = NIOLoopBound(
        webHandler(channel, refusal, isSecure: true), eventLoop: channel.eventLoop)
      try channel.pipeline.syncOperations.addHandler(
        refusal != nil
          ? handler.value
          : HandshakeHandler(settings: settings, registry: registry(of: channel)) { handler.value })
    }
  }

  /// Counts a channel, and adds its handlers.
  ///
  /// - Parameters:
  ///   - given: A reason to refuse it, if one is known already.
  ///   - addHandlers: Called with the reason to refuse it; nil if it is served.
  private func enter(
    _ channel: any Channel, refusing given: Refusal? = nil,
    _ addHandlers: @escaping @Sendable (Refusal?) throws -> Void
  ) -> EventLoopFuture<Void> {
    let registry = loop(of: channel).registry
    let room =
      given == nil ? registry.value.makeRoom() : channel.eventLoop.makeSucceededVoidFuture()
    return room.flatMapThrowing { try addHandlers(registry.value.enter(channel, refusing: given)) }
  }

  private func registry(of channel: any Channel) -> ConnectionRegistry {
    loop(of: channel).registry.value
  }

  private func loop(of channel: any Channel) -> ServingLoop {
    loops.first { $0.loop === channel.eventLoop } ?? loops[0]
  }

  private func webHandler(
    _ channel: any Channel, _ refusal: Refusal?, isSecure: Bool
  ) -> WebHandler {
    let loop = loop(of: channel)
    let registry = loop.registry.value
    return WebHandler(
      settings: settings, registry: registry, router: web,
      isLoopback: ClientAddress(channel.localAddress)?.isLoopback ?? false, refusal: refusal
    ) {
      ConnectionHandler(
        shard: loop.shard, registry: registry, isRemote: true,
        over: isSecure ? .secureWebSocket : .webSocket)
    }
  }

  private func handler(
    _ channel: any Channel, _ refusal: Refusal?, isRemote: Bool, over transport: ClientTransport
  ) -> any ChannelHandler {
    if let refusal { return RefusingHandler(refusal) }
    let loop = loop(of: channel)
    return ConnectionHandler(
      shard: loop.shard, registry: loop.registry.value, isRemote: isRemote, over: transport)
  }
}
