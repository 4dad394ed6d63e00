// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

/// The console: a page on the admin interface that shows what runs in the server, and the JSON
/// interface of that page.
///
/// | path below `/console/api/` | response |
/// |---|---|
/// | `server` | shards, kinds and their problems, limits and their use |
/// | `sessions` | a page of the list of sessions: `search`, `after`, `limit` |
/// | `session` | one session with its stores: `session` |
/// | `state` | the view state of a store, now or at a recorded `revision`: `session`, `store` |
/// | `timeline` | the events `after` a number, if the session is recorded: `session` |
/// | `schema` | the schemas of the store kinds |
///
/// | POST, with `session` in the query | does |
/// |---|---|
/// | `record` | records the session while `timeline` is read |
/// | `send` | sends the member `input` to the member `store` |
/// | `close` | closes the member `store` |
/// | `copy` | runs a copy of the member `store` from the member `revision`; see `StoreCopies` |
/// | `evict` | evicts the member `client` |
/// | `end` | ends the session |
/// | `drain` | starts the end of the server; without `session` |
/// | `advance`, `fault` | under test, and in a copy: advances the clock; injects a fault |
///
/// It belongs to the loop of the admin interface, and has no state of a client: a page asks again
/// when it wants to know more.
final class Console {
  let loop: any EventLoop
  let index = SessionIndex()
  let copies: StoreCopies
  let status: ServerStatus
  let operations: ConsoleOperations
  private let files: ConsoleFiles
  /// The description of the server, once it was needed.
  private lazy var description = ServerDescription(kinds: kinds).openRPC
  /// The members that are not shown.
  private(set) lazy var secrets = KindSecrets(description)

  /// - Parameters:
  ///   - files: The files of the page, by their paths.
  ///   - operations: What the console can do.
  ///   - status: The status of the server, with its shards.
  ///   - loop: The loop of the admin interface.
  init(
    _ files: [String: [UInt8]], _ operations: ConsoleOperations, _ status: ServerStatus,
    on loop: any EventLoop
  ) {
    self.files = ConsoleFiles(files)
    self.operations = operations
    self.status = status
    self.loop = loop
    copies = StoreCopies(on: loop)
  }

  /// The shards of the server, and those of copies; none before it serves.
  var shards: ServedShards {
    ServedShards(shards: status.shards, copies: copies.served)
  }

  /// Returns the response to a request that was not refused.
  ///
  /// - Parameter operatorName: The operator whose token the request has; nil if the interface needs
  ///   no token.
  func response(
    to head: RequestHead, body: [UInt8], by operatorName: String?
  ) -> EventLoopFuture<WebResponse> {
    let request = ConsoleRequest(head, body: body, by: operatorName)
    guard request.path.hasPrefix("/api/") else {
      let file = files.response(to: head, request.path)
      return loop.makeSucceededFuture(
        head.method == "POST"
          ? WebResponse(.methodNotAllowed, "use GET", fields: [("Allow", "GET, HEAD")]) : file)
    }
    guard !shards.shards.isEmpty else {
      return loop.makeSucceededFuture(
        ConsoleResponse.error(.unavailable, "the server is starting").web)
    }
    return respond(to: request).map(\.web)
  }

  private func respond(to request: ConsoleRequest) -> EventLoopFuture<ConsoleResponse> {
    switch (request.method == "POST", request.path.dropFirst("/api/".count)) {
    case (false, "server"): server()
    case (false, "sessions"): sessions(request)
    case (false, "session"): inSession(request, respondWithSession)
    case (false, "state"): inSession(request, respondWithState)
    case (false, "timeline"): inSession(request, respondWithEvents)
    case (false, "schema"): ready(.value(schemas))
    case (true, "record"): inSession(request, record)
    case (true, "send"): inSession(request, send)
    case (true, "close"): inSession(request, close)
    case (true, "copy"): inSession(request, copy)
    case (true, "evict"): inSession(request, evict)
    case (true, "end"): inSession(request, end)
    case (true, "drain"): drain(request)
    case (true, "advance"): advance(request)
    case (true, "fault"): inSession(request, injectFault)
    default: ready(.error(.notFound, "there is no such path, or it has another method"))
    }
  }

  /// The store kinds. They are the same for all shards, and requests come after the start.
  private var kinds: [StoreKind] { shards.shards.first?.shard.kinds ?? [] }

  /// The schemas of the store kinds, with the definitions that they refer to.
  private var schemas: JSONValue {
    [
      "stores": description["x-stores"] ?? [:], "components": description["components"] ?? [:],
    ]
  }

  /// Returns a future with a response.
  func ready(_ response: ConsoleResponse) -> EventLoopFuture<ConsoleResponse> {
    loop.makeSucceededFuture(response)
  }

  /// Calls `body` with the place of the session that a request names.
  func inSession(
    _ request: ConsoleRequest,
    _ body: @escaping (ConsoleRequest, SessionIndex.Place) -> EventLoopFuture<ConsoleResponse>
  ) -> EventLoopFuture<ConsoleResponse> {
    guard let id = request["session"] else {
      return ready(.error(.badRequest, "the parameter session is missing"))
    }
    let bound = NIOLoopBound((self, request, body), eventLoop: loop)
    return index.place(of: id, shards, on: loop).flatMap { place in
      let (console, request, body) = bound.value
      guard let place, console.copies.exists(place.shard) else {
        return bound.eventLoop.makeSucceededFuture(.noSession)
      }
      console.copies.use(place.shard)
      return body(request, place)
    }
  }
}
