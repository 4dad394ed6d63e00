// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

/// The things that a method may use: the client's place in its session and what all clients share.
struct MethodContext {
  let participant: Participant
  /// The identity that the client has shown; nil where there are none.
  let identity: Identity?
  let settings: ServerSettings
  let common: SharedCaches

  var session: Session { participant.session }

  /// The session, in which this client may change something.
  /// - Throws: `RPCError` -32013 if it is over, or -32014 for an observer.
  func drivenSession() throws(RPCError) -> Session {
    try refusing { () throws(SessionError) in try participant.checkDriver() }
    return session
  }

  /// The client's subscription to a store; made on first use.
  func subscription(_ name: String, _ shard: isolated Shard) throws(RPCError) -> Subscription {
    try refusing { () throws(SessionError) in try participant.subscription(name, isolation: shard) }
  }
}

/// The result of a request, which its connection turns into a response.
enum MethodResult {
  /// Writes the members of an object.
  case members((inout JSONWriter) -> Void)
  case null
  /// Writes the members of an object of about so many bytes, on any thread; what it throws becomes the response.
  case large(expectedBytes: Int, (@Sendable (inout JSONWriter) throws(RPCError) -> Void))
  /// The text of an object that several responses share.
  case shared([UInt8])
  /// The result of work on another thread, which the client's next messages wait for; so many bytes are kept meanwhile.
  case offloaded(keptBytes: Int, (@Sendable () -> Continuation))
  /// The result of the continuation, once the body that it is passed on has been called in a turn: the client's next
  /// messages wait for it.
  case awaited((isolated Shard, @escaping (isolated Shard) -> Void) -> Void, Continuation)
  /// An empty object, once the body that is passed on has been called.
  case deferred((_ done: @escaping () -> Void) -> Void)
  /// The client has another place from now on.
  indirect case moved(to: Participant, MethodResult)
  /// The client gets kept updates of stores after the response, each from a revision on.
  indirect case replayed([(subscription: Subscription, from: Revision)], after: MethodResult)

  /// Continues a request on the shard, after the work on another thread.
  typealias Continuation =
    @Sendable (MethodContext, isolated Shard) throws(RPCError) -> MethodResult

  static var empty: MethodResult { .members { _ in } }
}
