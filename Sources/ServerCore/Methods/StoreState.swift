// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Connection {
  /// `store/state`
  func storeState(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    let params: StoreState.Params = try request.decode(limits: settings.limits)
    let attachment = try attachment(params.store, shard)
    // Nobody would see the answer, and it can be a large one.
    guard request.id != nil else { return }
    var state = JSONWriter()
    attachment.writeState(to: &state)
    let digest: UInt32
    do throws(JSONError) {
      digest = try state.withBytes { text throws(JSONError) in
        JSON.digest(try JSON.canonical(try JSONValue(parsing: text)))
      }
    } catch {
      throw RPCError(.internalError, "the state has no canonical form: \(error.message)")
    }
    reply(to: request) { writer in
      writer.key("revision")
      writer.value(attachment.revision)
      writer.key("state")
      state.withBytes { writer.verbatim($0) }
      writer.key("digest")
      writer.value(digest)
    }
  }
}
