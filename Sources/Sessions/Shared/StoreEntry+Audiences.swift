// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The audiences of a store: viewers that see the same view of it.

extension StoreEntry {
  /// Returns the store entry that a viewer uses: that of its audience, or this one if all viewers
  /// see the same view.
  ///
  /// - Throws: `SessionError.unencodable` if the view of the audience cannot be encoded.
  func entry(for viewer: Viewer) throws(SessionError) -> StoreEntry {
    guard let audience = store.audience(of: viewer) else { return self }
    if let entry = audiences?[audience] { return entry }
    let view: any AnyStore
    do throws(JSONError) {
      view = try store.store(for: audience)
    } catch {
      throw .unencodable(error)
    }
    let entry = StoreEntry(self, audience, view)
    audiences = audiences ?? [:]
    audiences?[audience] = entry
    recording?.wrap([entry])
    return entry
  }

  /// The entries of all audiences; the entry itself is not one of them.
  var audienceEntries: [StoreEntry] { audiences.map { Array($0.values) } ?? [] }

  /// Releases the view of an audience that has no viewers any more.
  func releaseIfUnused() {
    guard let root = parent, let audience, isUnused else { return }
    awaitedReplies.removeAll()
    root.audiences?[audience] = nil
    root.store.removeAudience(audience)
    removeFromAccount()
  }

  /// Records that viewers have subscribed, left or changed. A machine that is aware of them gets
  /// its input at the end of the turn.
  func viewersChanged() {
    let root = parent ?? self
    guard !root.isPresenceDue, root.store.isPresenceAware else { return }
    root.isPresenceDue = true
    turnOutcome.add(root)
  }

  /// Passes the viewers that have subscribed to the machine.
  func notePresence() {
    guard isPresenceDue else { return }
    isPresenceDue = false
    guard !isClosed else { return }
    let entries = [self] + audienceEntries
    store.take(entries.flatMap(\.subscribedViewers).sorted { $0.order < $1.order }.map(\.viewer))
  }
}
