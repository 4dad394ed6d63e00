// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol

extension StoreClose {
  /// Carries out `store/close`.
  static func respond(
    to params: Params, _ context: MethodContext, _ shard: isolated Shard
  ) throws(RPCError) -> MethodResult {
    let session = try context.drivenSession()
    try refusing { () throws(SessionError) in try session.close(params.store, isolation: shard) }
    return .empty
  }
}
