// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// A limit of bytes that concurrent loads share.
public final class LoadingQuota: Sendable {
  private let freeBytes: Lock<Int>

  /// Creates a limit.
  ///
  /// - Parameter bytes: Number of bytes that all loads may have read together.
  public init(bytes: Int) { freeBytes = Lock(bytes) }

  /// The bytes that one load has taken; returned when the share is released.
  final class Share: Sendable {
    private let quota: LoadingQuota
    private let bytes = Lock(0)

    fileprivate init(_ quota: LoadingQuota) { self.quota = quota }

    deinit {
      let bytes = bytes.withLock { $0 }
      quota.freeBytes.withLock { $0 += bytes }
    }

    /// Takes more bytes.
    /// - Throws: `RemoteFailure.busy` if fewer bytes are left.
    func take(_ count: Int) throws(RemoteFailure) {
      let isTaken = quota.freeBytes.withLock { free in
        guard count <= free else { return false }
        free -= count
        return true
      }
      guard isTaken else { throw .busy }
      bytes.withLock { $0 += count }
    }
  }

  /// Creates a share without bytes.
  func share() -> Share { Share(self) }
}
