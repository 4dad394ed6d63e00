// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

/// The context of a method: the client's place in its session, and the state that all clients
/// share.
struct MethodContext {
  let participant: Participant
  /// The identity of the client; nil on a server without tokens.
  let identity: Identity?
  let settings: ServerSettings
  let common: SharedCaches
  /// True if the client may evict another one with its name.
  let evicts: Bool

  var session: Session { participant.session }

  /// Returns the session, if this client may change it.
  ///
  /// - Throws: `RPCError` -32013 if the session has ended, or -32014 for an observer.
  func drivenSession() throws(RPCError) -> Session {
    try refusing { () throws(SessionError) in try participant.checkDriver() }
    return session
  }

  /// Returns the client's subscription to a store, which is created on first use.
  ///
  /// - Throws: `RPCError` of the `SessionError`.
  func subscription(_ name: String, _ shard: isolated Shard) throws(RPCError) -> Subscription {
    try refusing { () throws(SessionError) in try participant.subscription(name, isolation: shard) }
  }
}

/// The result of a request, which its connection turns into a response.
enum MethodResult {
  /// Writes the members of an object.
  case members((inout JSONWriter) -> Void)
  case null
  /// Writes the members of an object with an expected size in bytes, on any thread. An error that
  /// it throws becomes the response.
  case large(expectedBytes: Int, (@Sendable (inout JSONWriter) throws(RPCError) -> Void))
  /// The text of an object that several responses share.
  case shared([UInt8])
  /// The result of offloaded work, which holds a number of bytes; the client's next messages wait.
  case offloaded(keptBytes: Int, (@Sendable () async -> Continuation))
  /// The result of the continuation, after an operation of the shard: the first closure starts it,
  /// and its argument is called in a turn at the end. The client's next messages wait.
  case awaited((isolated Shard, @escaping (isolated Shard) -> Void) -> Void, Continuation)
  /// An empty object, sent when `done` is called; the client's next messages do not wait.
  case deferred((_ done: @escaping () -> Void) -> Void)
  /// The result of the same request on another shard.
  case onShard(Int)
  /// The result of a request, given as JSON text, on another node.
  case onNode(ClusterNode, text: [UInt8])
  /// A result that also moves the client to another place in a session.
  indirect case moved(to: Participant, MethodResult)
  /// A result after which the client receives kept updates of stores, each after a revision.
  indirect case replayed([(subscription: Subscription, from: Revision)], after: MethodResult)

  /// Continues a request on the shard, after the work on another thread.
  typealias Continuation =
    @Sendable (MethodContext, isolated Shard) throws(RPCError) -> MethodResult

  /// An empty object.
  static var empty: MethodResult { .members { _ in } }
}
