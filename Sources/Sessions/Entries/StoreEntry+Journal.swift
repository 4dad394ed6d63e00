// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireProtocol

// The journal and the history of a store.

extension StoreEntry {
  /// Stores the updates from now on.
  func keepHistory(maximumBytes: Int) {
    guard history == nil else { return }
    history = UpdateHistory(from: store.revision, maximumBytes: maximumBytes)
  }

  /// Journals the store, except its updates, and each later change.
  func journal(to record: StoreEntryRecord) {
    self.record = record
    history?.restart(from: store.revision)
    record.add(
      .opened(
        kind: kind, configuration: content.configuration,
        revision: isClosed ? store.revision : opened, version: store.version, renewal: renewal))
    if store.lastOperation > 0 {
      record.add(.accepted(operation: store.lastOperation, epoch: 0, input: nil, at: .zero))
      record.add(.settled(operation: store.lastOperation))
    }
    guard !isClosed else { return record.add(.closed) }
    if content.isDurable {
      store.record(by: record)
    } else {
      record.add(.state(nil, revision: store.revision))
    }
    if redacted > 0 { record.add(.redacted(redacted)) }
  }

  /// Continues to journal a store that an earlier process has journaled.
  ///
  /// - Parameter renewed: True if the state is not the one that the earlier process has journaled.
  func continueJournaling(in record: StoreEntryRecord, renewed: Bool) {
    self.record = record
    if renewed {
      record.add(.renewed(revision: opened, version: store.version, renewal: renewal))
    }
    store.record(by: record)
  }

  /// Returns the reason why the missed updates cannot be replayed to a client that has a revision;
  /// nil if they can.
  func snapshotReason(from held: Revision?) -> SessionAttach.SnapshotReason? {
    guard let held else { return SessionAttach.SnapshotReason.none }
    if held > store.revision { return .ahead }
    if held < opened { return .reopened }
    if held == store.revision { return nil }
    if held < redacted { return .redacted }
    guard let history, held >= history.start else { return .trimmed }
    return nil
  }
}
