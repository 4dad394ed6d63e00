// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `test/advanceClock`
  func testAdvanceClock(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let testing = try testMode(shard)
    let params: TestAdvanceClock.Params = try request.decode(limits: settings.limits)
    let address = request.address
    if address != nil { request.batch?.open += 1 }
    testing.advance(by: params.by.duration) { [weak self] in
      guard let self, let address else { return }
      writer.respond(to: address) { $0.result { _ in } }
    }
  }

  /// What tests can do.
  /// - Throws: `RPCError` -32601 unless the server was started for tests.
  func testMode(_ shard: isolated Shard) throws(RPCError) -> TestMode {
    guard let testing = shard.testing else {
      throw RPCError(.methodNotFound, "only a server that was started with --test has this method")
    }
    return testing
  }
}
