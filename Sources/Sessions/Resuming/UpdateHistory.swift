// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The last updates of a store, for reconnecting clients.
///
/// Its size is bounded, regardless of what clients have received. It consists of two halves; when
/// the newer half is full, the older one is dropped. So adding an update costs only its copy.
///
/// It is a class, so that a store without a history needs only the memory of a reference.
final class UpdateHistory {
  private struct Half {
    var start: Revision
    var bytes: [UInt8] = []
    /// The end of each update in `bytes`.
    var ends: [Int] = []
  }

  private var older: Half?
  private var newer: Half
  private let maximumBytes: Int

  /// Creates an empty history that starts at a revision.
  init(from revision: Revision, maximumBytes: Int) {
    newer = Half(start: revision)
    self.maximumBytes = maximumBytes
  }

  /// Creates a history from updates that were stored before.
  ///
  /// - Parameters:
  ///   - frames: The updates with the revisions after them. All of them are dropped unless their
  ///     revisions are consecutive and end at `end`.
  ///   - end: The current revision.
  ///   - maximumBytes: The maximum size of the history.
  convenience init(
    _ frames: [(revision: Revision, frame: [UInt8])], to end: Revision, maximumBytes: Int
  ) {
    self.init(from: frames.first.map { $0.revision - 1 } ?? end, maximumBytes: maximumBytes)
    for (revision, frame) in frames { frame.withUnsafeBytes { append($0, to: revision) } }
    if self.end != end { restart(from: end) }
  }

  /// The revision before the first update.
  var start: Revision { older?.start ?? newer.start }
  /// The revision after the last update.
  var end: Revision { newer.start + newer.ends.count }

  /// The size of the stored updates, in bytes.
  var byteCount: Int { newer.bytes.count + (older?.bytes.count ?? 0) }

  /// Returns true if an update of this size can be stored.
  func keeps(_ byteCount: Int) -> Bool { byteCount <= maximumBytes / 2 }

  /// Drops all updates and continues from a revision.
  func restart(from revision: Revision) {
    older = nil
    newer = Half(start: revision)
  }

  /// Adds an update.
  ///
  /// - Parameters:
  ///   - frame: The members of the notification's parameters. If they are larger than half of the
  ///     maximum, or the revision is not the next one, the history is dropped and restarts after
  ///     the update.
  ///   - revision: The revision after the update.
  func append(_ frame: UnsafeRawBufferPointer, to revision: Revision) {
    guard keeps(frame.count), end + 1 == revision else {
      return restart(from: revision)
    }
    if newer.bytes.count + frame.count > maximumBytes / 2 {
      older = newer
      newer = Half(start: revision - 1)
    }
    newer.bytes.append(contentsOf: frame)
    newer.ends.append(newer.bytes.count)
  }

  /// Calls `body` with each update after a revision, in order.
  ///
  /// - Precondition: `revision` is not before `start`.
  func forEach(from revision: Revision, _ body: (UnsafeRawBufferPointer) -> Void) {
    // Copies, because `body` may add updates.
    let (older, newer) = (older, newer)
    if let older { Self.forEach(of: older, from: revision, body) }
    Self.forEach(of: newer, from: revision, body)
  }

  private static func forEach(
    of half: Half, from revision: Revision, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    half.bytes.withUnsafeBytes { bytes in
      for index in half.ends.indices.dropFirst(max(0, revision - half.start)) {
        let start = index == 0 ? 0 : half.ends[index - 1]
        body(UnsafeRawBufferPointer(rebasing: bytes[start..<half.ends[index]]))
      }
    }
  }
}
