// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

/// The messages of one turn about a store's changes, as all frontends get them that only look on.
///
/// Such a frontend follows the text instead of taking each message: when the turn ends, or something
/// else is to be written for it before, it takes all that has come until then. So a change costs nothing
/// for each of many frontends; what they take is copied where more goes out, and else sent as it is.
public final class FrameText {
  /// The messages, one after the other.
  private var bytes = JSONWriter()
  /// What the last message leads to; nil where there is none.
  private(set) var revision: Revision?
  /// Where that begins.
  private var start = 0
  private var write: ((borrowing ChangedFrame, inout JSONWriter) -> Void)?
  /// The bytes in the form in which they are sent, for who sends them to several; nil once they are more.
  public var sent: AnyObject?
  /// Those of the store's attachments that do not follow, so that it need not look for them at each
  /// change; nil where it has to.
  var others: [Attachment]?

  // Beyond this another text is begun, so that those who follow take what there is.
  private static let maximumBytes = 64 << 10

  var isFull: Bool { bytes.count > Self.maximumBytes }

  init() {}

  /// Calls `body` with the messages, one after the other; it must not lead back to the store.
  public func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    bytes.withBytes(body)
  }

  /// Where the message about a change begins; it is written if it is not there yet.
  ///
  /// - Parameters:
  ///   - frame: The change that is being told.
  ///   - write: Writes the message, and all later ones; the same bytes whoever asks.
  public func place(
    of frame: borrowing ChangedFrame,
    writing write: @escaping (borrowing ChangedFrame, inout JSONWriter) -> Void
  ) -> Int {
    guard revision != frame.revision else { return start }
    start = bytes.count
    sent = nil
    write(frame, &bytes)
    revision = frame.revision
    self.write = write
    return start
  }

  /// Writes the message about a change for those who follow, if anybody ever has.
  func add(_ frame: borrowing ChangedFrame) {
    if let write { _ = place(of: frame, writing: write) }
  }
}
