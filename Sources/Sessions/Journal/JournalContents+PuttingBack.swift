// SPDX-License-Identifier: Apache-2.0

public import StateMachines
internal import StatewireJSON

extension JournalContents {
  /// The reason why a state cannot be put back.
  public enum PuttingBackError: Error, Equatable {
    /// The session of the state has ended.
    case sessionEnded
    /// The store has another kind now.
    case otherKind(String)
  }

  /// Returns the entries that make a state, which is kept aside, the state of its store. The present
  /// state of the store is kept aside instead.
  ///
  /// The store continues under a revision that was never used. Its unsettled inputs are lost.
  ///
  /// - Parameters:
  ///   - kept: The state; its text may have been edited.
  ///   - time: The present time, since 1970.
  /// - Returns: The entries, and the revision under which the store continues.
  /// - Throws: `PuttingBackError`; `JSONError` if the present state cannot be read.
  public func puttingBack(
    _ kept: KeptState, at time: Duration
  ) throws -> (entries: [JournalEntry], revision: Revision) {
    guard let session = sessions.first(where: { $0.handle == kept.session }) else {
      throw PuttingBackError.sessionEnded
    }
    let name = ByteString(kept.store)
    let store = session.stores.first { ByteString($0.name) == name }
    var entries: [JournalEntry.Event] = []
    if let store, !store.isClosed {
      guard ByteString(store.kind) == ByteString(kept.kind) else {
        throw PuttingBackError.otherKind(store.kind)
      }
      if let (state, _) = try store.foldedState() {
        entries.append(
          .keptAside(
            KeptState(
              session: session.handle, owner: session.owner, store: store.name, kind: store.kind,
              configuration: store.configuration, version: store.version, revision: store.revision,
              state: state.bytes, reason: "replaced by the state of revision \(kept.revision)",
              time: time)))
      }
    }
    let revision = max(store?.revision ?? 0, kept.revision) + 1
    entries += [
      .store(
        kept.store,
        .opened(
          kind: kept.kind, configuration: kept.configuration, revision: revision,
          version: kept.version, renewal: .restored)),
      .store(kept.store, .state(.text(kept.state), revision: revision)),
    ]
    return (entries.map { JournalEntry(session.handle, $0) }, revision)
  }
}
