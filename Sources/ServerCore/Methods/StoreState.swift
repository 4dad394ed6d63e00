// SPDX-License-Identifier: Apache-2.0

internal import Delivery
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
    let (state, revision) = (attachment.state, attachment.revision)
    reply(to: request, expecting: state.expectedBytes, shard) { writer throws(RPCError) in
      writer.key("revision")
      writer.value(revision)
      writer.key("state")
      let start = writer.count
      state.write(to: &writer)
      let digest: UInt32
      do throws(JSONError) {
        digest = try writer.withBytes { text throws(JSONError) in
          try JSON.digest(ofText: UnsafeRawBufferPointer(rebasing: text[start...]))
        }
      } catch {
        throw RPCError(.internalError, "the state has no canonical form: \(error.message)")
      }
      writer.key("digest")
      writer.value(digest)
    }
  }
}
