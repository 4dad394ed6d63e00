// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import ServerCore
internal import StatewireJSON
internal import Transports

// The virtual clock and the faults of a server under test.

extension Console {
  private static let noTest = ConsoleResponse.error(
    .badRequest,
    "only a copy, and a server that was started with --test, has a clock to advance and faults")

  /// The longest advance of the clock: a year.
  private static let maximumSeconds = 31_536_000.0

  /// Starts to advance the clock of the server, or of the copy that `session` names: `seconds`. The
  /// response does not wait for the work that this causes.
  func advance(_ request: ConsoleRequest) -> EventLoopFuture<ConsoleResponse> {
    // A server under test has one shard.
    guard request["session"] != nil else { return advance(request, ofShard: 0) }
    return inSession(request) { [self] request, place in
      advance(request, ofShard: copies[place.shard] == nil ? 0 : place.shard)
    }
  }

  private func advance(
    _ request: ConsoleRequest, ofShard shard: Int
  ) -> EventLoopFuture<ConsoleResponse> {
    guard let seconds = request.object?["seconds"]?.double, 0...Self.maximumSeconds ~= seconds
    else { return ready(.error(.badRequest, "seconds must be a number from 0 to 31536000")) }
    log(request, "advanced the clock")
    return shards.read(shard, on: loop) { shard in
      guard let testing = shard.testing else { return Self.noTest }
      shard.turn { testing.advance(by: .seconds(seconds)) {} }
      return .value([:])
    }.map { $0 ?? .error(.unavailable, "the shard does not respond") }
  }

  /// Injects a fault into an operation of a store: `store`, `operation`, `fault` (`fail`, `hang` or
  /// `delay`), `seconds` of a delay, `times`.
  func injectFault(
    _ request: ConsoleRequest, _ place: SessionIndex.Place
  ) -> EventLoopFuture<ConsoleResponse> {
    guard let object = request.object, let store = object["store"]?.string,
      let operation = object["operation"]?.string, let fault = Self.fault(object)
    else { return ready(.error(.badRequest, "store, operation and fault must be given")) }
    let times = object["times"]?.int ?? 1
    guard 1...1_000 ~= times else {
      return ready(.error(.badRequest, "times must be from 1 to 1000"))
    }
    let action = "injected a fault into \(operation.prefix(64)) of the store \(store.prefix(64))"
    return operate(request, place, action) { shard, session in
      guard shard.testing != nil else { return Self.noTest }
      do throws(SessionError) {
        try session.faults(of: store, isolation: shard)?.inject(
          fault, into: operation, times: times)
        return .value([:])
      } catch {
        return .error(.badRequest, error.explanation)
      }
    }
  }

  private static func fault(_ object: JSONObject) -> Fault? {
    switch object["fault"]?.string {
    case "fail": return .fail
    case "hang": return .hang
    case "delay":
      let seconds = object["seconds"]?.double ?? 1
      return 0...maximumSeconds ~= seconds ? .delay(.seconds(seconds)) : nil
    default: return nil
    }
  }
}
