// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `rpc.discover`
  func discover(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    _ = try request.namedParams()
    // It may cost as much as many an input.
    try spendInput()
    if let document = common.description { return reply(to: request, document) }
    let kinds = shard.kinds
    guard testing == nil else {
      let document = Self.document(kinds)
      common.description = document
      return reply(to: request, document)
    }
    offload(OffloadedRequest(request), shard) {
      Self.document(kinds)
    } then: { connection, request, document, _ in
      connection.common.description = document
      guard let address = request.address else { return }
      connection.writer.respond(to: address) { writer in
        writer.result { Self.write(document, to: &$0) }
      }
    }
  }

  private static func document(_ kinds: [StoreKind]) -> [UInt8] {
    ServerDescription(kinds: kinds).openRPC.jsonBytes()
  }

  private func reply(to request: Request, _ document: [UInt8]) {
    guard let batch = request.batch else {
      return reply(to: request) { Self.write(document, to: &$0) }
    }
    guard let id = request.id else { return }
    batch.beginAnswer()
    batch.answers.response(to: id) { $0.raw(",\"result\":") }
    batch.append(document)
    batch.answers.raw(byte: UInt8(ascii: "}"))
  }

  /// Writes the members of the document, in the braces that are there already.
  private static func write(_ document: [UInt8], to writer: inout JSONWriter) {
    document.dropFirst().dropLast().withUnsafeBytes { writer.raw($0) }
  }
}
