// SPDX-License-Identifier: Apache-2.0

public import Sessions
internal import StatewireJSON
internal import StatewireProtocol

extension SessionError {
  /// The message of the error that a client would get, with its path.
  public var explanation: String {
    let error = RPCError(self)
    guard let path = error.data?["path"]?.string, !path.isEmpty else { return error.message }
    return "\(path): \(error.message)"
  }
}
