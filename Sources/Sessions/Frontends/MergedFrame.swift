// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON
internal import StatewireProtocol

/// The frames of a store that wait until a frontend reads, merged into one.
///
/// As long as their operations are few they are kept, one after the other. Beyond that the frame
/// becomes the whole state, as it is when the frontend reads, so a slow one costs bounded memory.
struct MergedFrame {
  /// The revision that the frontend holds.
  let base: Revision
  /// The operations without the array's brackets; nil if the frame has become the whole state.
  private var operations: [UInt8]?

  // More than this is not worth keeping.
  private static let maximumBytes = 4 << 10

  init(base: Revision) {
    self.base = base
    operations = []
  }

  /// Adds what leads on from here.
  mutating func add(_ frame: borrowing ChangedFrame) {
    guard var kept = operations, !frame.isRedaction,
      kept.count + frame.patch.count <= Self.maximumBytes
    else {
      operations = nil
      return
    }
    operations = nil
    if !kept.isEmpty { kept.append(UInt8(ascii: ",")) }
    // Without its brackets.
    kept.append(contentsOf: frame.patch.dropFirst().dropLast())
    operations = kept
  }

  /// Writes the members of the notification's parameters but for `applied`.
  func write(_ slot: StoreSlot, _ format: FrameFormat, to writer: inout JSONWriter) {
    slot.writeHead(base, slot.store.revision, to: &writer)
    switch (format, operations) {
    case (.state, _):
      writer.raw(",\"state\":")
      slot.store.writeState(to: &writer)
    case (.patch, let operations?):
      writer.raw(",\"patch\":[")
      writer.raw(operations)
      writer.raw("]")
    case (.patch, nil):
      writer.raw(",\"patch\":[{\"op\":\"replace\",\"path\":\"\",\"value\":")
      slot.store.writeState(to: &writer)
      writer.raw("}]")
    }
  }
}
