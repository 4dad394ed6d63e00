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
    let document = common.description ?? ServerDescription(kinds: shard.kinds).openRPC.jsonBytes()
    common.description = document
    if let batch = request.batch {
      guard let id = request.id else { return }
      batch.beginAnswer()
      Self.answer(id, { $0.raw(",\"result\":") }, to: &batch.answers)
      batch.append(document)
      batch.answers.raw(byte: UInt8(ascii: "}"))
      return
    }
    reply(to: request) { writer in
      // Its members, in the braces that are there already.
      document.dropFirst().dropLast().withUnsafeBytes { writer.raw($0) }
    }
  }
}
