// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension StoreState {
  /// Carries out `store/state`; the digest is that of the state's canonical form.
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let subscription = try context.subscription(params.store, shard)
    try refusing { () throws(SessionError) in try subscription.check(.subscribe) }
    let (state, revision) = (subscription.state, subscription.revision)
    return .large(expectedBytes: state.expectedBytes) { writer throws(RPCError) in
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
