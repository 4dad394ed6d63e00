// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StateMachines

/// The data about a session in memory that later transactions need.
final class LoggedSession {
  let handle: SessionHandle
  /// The epoch in which this node owns the session.
  let epoch: Int64
  var progress: Progress
  /// True while its entries are being folded into one.
  var isCompacting = false

  /// The part that a transaction changes, and that is restored if the transaction fails.
  struct Progress {
    /// The number of the last row of `entry`.
    var number: Int64 = 0
    /// The size of the rows after the last one that contains everything before it, and of that one.
    ///
    /// - Units: bytes.
    var laterBytes = 0
    var baseBytes = 0
    /// The number of the row up to which rows must be folded, because they have data that was
    /// redacted; nil if there is none.
    var redactedAt: Int64?
    var owner: String?
    var deadline: Duration?
    var continuesAlone = true
    var usedBytes = 0
    var isEmpty = true
    /// The number of unsettled inputs of each store.
    var unsettled: [ByteString: Int] = [:]

    /// The columns of the row of `session`.
    var summary: Summary {
      Summary(
        deadline: deadline.map(\.nanoseconds), isEmpty: isEmpty, bytes: Int64(usedBytes),
        continues: deadline == nil || continuesAlone || !unsettled.isEmpty)
    }
  }

  /// The columns of the row of `session` that change.
  struct Summary: Equatable {
    var deadline: Int64?
    var isEmpty: Bool
    var bytes: Int64
    var continues: Bool
  }

  init(handle: SessionHandle, epoch: Int64, progress: Progress) {
    self.handle = handle
    self.epoch = epoch
    self.progress = progress
  }

  /// True if folding the rows is worth it: it costs as much as all of them, and they are as large as
  /// the session itself.
  func isLong(_ minimum: Int) -> Bool {
    !isCompacting
      && (progress.redactedAt != nil || progress.laterBytes > max(progress.baseBytes, minimum))
  }
}

extension LoggedSession.Progress {
  /// Takes note of an event.
  mutating func take(_ event: JournalEntry.Event) {
    switch event {
    case .opened(let owner): self.owner = owner
    case .ended, .sequence, .keptAside, .keptRemoved: break
    case .expires(let time): deadline = time
    case .alone(let continues, let bytes): (continuesAlone, usedBytes) = (continues, bytes)
    case .store(let name, let event):
      switch event {
      case .opened:
        isEmpty = false
        unsettled[ByteString(name)] = nil
      case .closed: unsettled[ByteString(name)] = nil
      case .accepted: unsettled[ByteString(name), default: 0] += 1
      case .settled:
        let count = unsettled[ByteString(name), default: 0]
        unsettled[ByteString(name)] = count > 1 ? count - 1 : nil
      case .redacted: redactedAt = number + 1
      case .renewed, .state, .step, .trimmed, .numbered: break
      }
    }
  }
}

/// The entries of one session, as its rows have them.
struct LoadedEntries {
  let session: JournalContents.Session
  let progress: LoggedSession.Progress

  /// Reads the rows of a session.
  ///
  /// - Parameter rows: The numbers and bytes, in order.
  /// - Throws: `EntryDamage` if a row is missing or cannot be read.
  init(
    _ handle: SessionHandle, _ rows: [(number: Int64, data: [UInt8])]
  ) throws(EntryDamage) {
    var contents = JournalContents()
    var progress = LoggedSession.Progress()
    for (index, row) in rows.enumerated() {
      guard row.number > 0, index == 0 || row.number - 1 == progress.number else {
        throw EntryDamage()
      }
      var reader = try EntryReader(row.data)
      progress.number = row.number - 1
      while let event = try reader.next() {
        contents.take(JournalEntry(handle, event))
        progress.take(event)
      }
      progress.number = row.number
      if reader.isFolded { progress.redactedAt = nil }
      if index == 0 {
        progress.baseBytes = row.data.count
      } else {
        progress.laterBytes += row.data.count
      }
    }
    guard let session = contents.sessions.first else { throw EntryDamage() }
    self.session = session
    self.progress = progress
  }

  /// Returns the bytes of one row that replaces all rows.
  func folded() -> [UInt8] {
    var writer = EntryWriter(isFolded: true)
    for entry in session.entries { writer.append(entry.event) }
    return writer.bytes
  }
}
