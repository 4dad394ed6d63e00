// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionError {
  /// The message of the error that a client would get, with its path.
  public var explanation: String { RPCError(self).explanation }
}

extension InputRefusal {
  /// The message of the error that a client would get, with its path.
  public var explanation: String { RPCError(self).explanation }
}

extension RPCError {
  /// The message with the path of the fault.
  fileprivate var explanation: String {
    guard let path = data?["path"]?.string, !path.isEmpty else { return message }
    return "\(path): \(message)"
  }
}
