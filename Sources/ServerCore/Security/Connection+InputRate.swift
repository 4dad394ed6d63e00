// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol
internal import Wire

extension Connection {
  /// Counts an input against `ServerLimits.inputsPerSecond`, if that is set.
  ///
  /// - Throws: `RPCError` -32015; the input is to be refused.
  func spendInput() throws(RPCError) {
    guard let perSecond = settings.limits.inputsPerSecond else { return }
    guard inputs?.takeOne(at: settings.now()) == false else { return }
    throw RPCError(
      limit: .inputsPerSecond,
      "at most \(perSecond) inputs are accepted in a second; send it again later")
  }
}
