// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension TestAdvanceClock {
  /// Carries out `test/advanceClock`; responds when the clock has moved and all work is idle.
  ///
  /// - Throws: `RPCError` -32601 unless the server was started with `--test`.
  static func respond(
    to params: Params, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let testing = try shard.testMode
    return .deferred { done in testing.advance(by: params.by.duration, done) }
  }
}

extension Shard {
  /// The virtual clock and fault injection.
  ///
  /// - Throws: `RPCError` -32601 unless the server was started with `--test`.
  var testMode: TestMode {
    get throws(RPCError) {
      guard let testing else {
        throw RPCError(
          .methodNotFound, "only a server that was started with --test provides this method")
      }
      return testing
    }
  }
}
