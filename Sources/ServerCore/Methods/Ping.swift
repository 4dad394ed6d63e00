// SPDX-License-Identifier: Apache-2.0

internal import StatewireProtocol

extension Connection {
  /// `ping`
  func ping(_ request: Request) throws(RPCError) {
    _ = try request.namedParams()
    reply(to: request) { _ in }
  }
}
