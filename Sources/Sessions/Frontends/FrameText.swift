// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

/// The messages of one turn about a store's changes, as all frontends get them that only look on.
///
/// Such a frontend follows the text instead of taking each message: when the turn ends, or something
/// else is to be written for it before, it takes all that has come until then. So what a change costs
/// for each of many frontends is the copying of its bytes.
public final class FrameText {
  /// The messages, one after the other.
  public private(set) var bytes = JSONWriter()
  /// Where the last message begins, and what it leads to.
  private var last: (start: Int, revision: Revision)?
  private var write: ((borrowing ChangedFrame, inout JSONWriter) -> Void)?

  // Beyond this another text is begun, so that those who follow take what there is.
  private static let maximumBytes = 64 << 10

  var isFull: Bool { bytes.count > Self.maximumBytes }

  init() {}

  /// Where the message about a change begins.
  ///
  /// - Parameters:
  ///   - frame: The change that is being told.
  ///   - write: Writes the message, if nobody has done so yet; and all later ones.
  public func start(
    of frame: borrowing ChangedFrame,
    _ write: @escaping (borrowing ChangedFrame, inout JSONWriter) -> Void
  ) -> Int {
    if let last, last.revision == frame.revision { return last.start }
    let start = bytes.count
    write(frame, &bytes)
    last = (start, frame.revision)
    self.write = write
    return start
  }

  /// Writes the message about a change for those who follow, if anybody ever has.
  func add(_ frame: borrowing ChangedFrame) {
    if let write { _ = start(of: frame, write) }
  }
}
