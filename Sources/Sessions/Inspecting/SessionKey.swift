// SPDX-License-Identifier: Apache-2.0

/// A loaded session of one shard, as the console finds it.
///
/// It has the handle, which is a secret, so it must not leave the process; see `publicID`.
public enum SessionKey: Hashable, Sendable {
  /// A session with a handle.
  case handle(SessionHandle)
  /// A session without a handle, by its only client.
  case client(ClientID)

  /// The id that may be shown. It is unique on the shard, and not the same in another process.
  ///
  /// That of a handle is a hash with the key of this process: the handle cannot be found from it.
  public var publicID: String {
    switch self {
    case .handle(let handle): UInt64(bitPattern: Int64(handle.hashValue)).hexadecimal
    case .client(let client): "c\(client)"
    }
  }
}
