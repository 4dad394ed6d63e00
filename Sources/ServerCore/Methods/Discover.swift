// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension Discover {
  /// Carries out `rpc.discover`; the first call writes the document on another thread.
  static func respond(_ context: MethodContext, _ shard: isolated Shard) -> MethodResult {
    if let document = context.common.description { return .shared(document) }
    let kinds = shard.kinds
    guard shard.testing == nil else { return share(document(kinds), context) }
    return .offloaded(keptBytes: 0) {
      let document = document(kinds)
      return { context, _ in share(document, context) }
    }
  }

  private static func share(_ document: [UInt8], _ context: MethodContext) -> MethodResult {
    context.common.description = document
    return .shared(document)
  }

  private static func document(_ kinds: [StoreKind]) -> [UInt8] {
    ServerDescription(kinds: kinds).openRPC.jsonBytes()
  }
}
