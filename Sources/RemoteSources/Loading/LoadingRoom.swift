// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores

/// How many bytes the loads that are going on may have read together.
public final class LoadingRoom: Sendable {
  private let freeBytes: Lock<Int>

  public init(bytes: Int) { freeBytes = Lock(bytes) }

  /// What one load has taken of the room; given back when the share is let go of.
  final class Share: Sendable {
    private let room: LoadingRoom
    private let bytes = Lock(0)

    fileprivate init(_ room: LoadingRoom) { self.room = room }

    deinit {
      let bytes = bytes.withLock { $0 }
      room.freeBytes.withLock { $0 += bytes }
    }

    /// Takes more bytes.
    /// - Throws: `RemoteFailure.busy` if other loads have taken them.
    func take(_ count: Int) throws(RemoteFailure) {
      let isTaken = room.freeBytes.withLock { free in
        guard count <= free else { return false }
        free -= count
        return true
      }
      guard isTaken else { throw .busy }
      bytes.withLock { $0 += count }
    }
  }

  /// A share with nothing in it.
  func share() -> Share { Share(self) }
}
