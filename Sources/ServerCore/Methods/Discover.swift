// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `rpc.discover`
  func discover(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    _ = try request.namedParams()
    // It may cost as much as many an input.
    try spendInput()
    let common = SharedCaches.of(shard)
    let document = common.description ?? ServerDescription(kinds: shard.kinds).openRPC.jsonBytes()
    common.description = document
    reply(to: request) { writer in
      // Its members, in the braces that are there already.
      document.dropFirst().dropLast().withUnsafeBytes { writer.raw($0) }
    }
  }
}
