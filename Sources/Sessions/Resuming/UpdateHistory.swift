// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// The last frames of a store, for frontends that come back.
///
/// Bounded in bytes, whatever frontends have received: in two halves, of which the older one is
/// dropped when the newer one is full. So adding a frame costs its copy and nothing else.
///
/// A class, so that a store that nobody can come back to has nothing but the place of a reference.
final class UpdateHistory {
  private struct Half {
    var start: Revision
    var bytes: [UInt8] = []
    /// Where each frame ends.
    var ends: [Int] = []
  }

  private var older: Half?
  private var newer: Half
  private let maximumBytes: Int

  /// A history that begins with a revision.
  init(from revision: Revision, maximumBytes: Int) {
    newer = Half(start: revision)
    self.maximumBytes = maximumBytes
  }

  /// A history that goes on after frames that were kept before.
  ///
  /// - Parameters:
  ///   - frames: With the revisions that they lead to; forgotten, unless they lead one by one to `end`.
  ///   - end: The revision now.
  ///   - maximumBytes: How much is kept.
  convenience init(
    _ frames: [(revision: Revision, frame: [UInt8])], to end: Revision, maximumBytes: Int
  ) {
    self.init(from: frames.first.map { $0.revision - 1 } ?? end, maximumBytes: maximumBytes)
    for (revision, frame) in frames { frame.withUnsafeBytes { append($0, to: revision) } }
    if self.end != end { restart(from: end) }
  }

  /// The first revision that frames here lead on from.
  var start: Revision { older?.start ?? newer.start }
  /// The revision that frames here lead to.
  var end: Revision { newer.start + newer.ends.count }

  /// How much is kept.
  var byteCount: Int { newer.bytes.count + (older?.bytes.count ?? 0) }

  /// Whether a frame of this size is kept at all.
  func keeps(_ byteCount: Int) -> Bool { byteCount <= maximumBytes / 2 }

  /// Forgets all frames and goes on from a revision.
  func restart(from revision: Revision) {
    older = nil
    newer = Half(start: revision)
  }

  /// Adds the frame that leads one revision on.
  ///
  /// - Parameters:
  ///   - frame: The members of the notification's parameters; one that is larger than half of what
  ///     is kept is not, nor anything before it.
  ///   - revision: Where it leads.
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

  /// Calls `body` with each frame from a revision on, in order.
  /// - Precondition: `revision` is not before `start`.
  func forEach(from revision: Revision, _ body: (UnsafeRawBufferPointer) -> Void) {
    // As they are now, whatever `body` adds.
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
