// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
public import StatewireJSON

// A copy of a store runs on a shard of its own: with a virtual clock, and without clients, a journal,
// observers and limits in common with a server. So nothing that happens there reaches a session.

extension Shard {
  /// The outcome of work of a copy that needs more than the store and its clock. It is not carried out.
  public enum WithheldWork: String, Sendable {
    /// The work fails.
    case fail
    /// The work does not end.
    case hang
  }

  /// Creates the shard of a copy.
  ///
  /// - Parameters:
  ///   - copy: The store at an earlier revision.
  ///   - tracker: The idle tracker of the shard, which no other shard has.
  ///   - work: The outcome of work outside of the store.
  ///   - original: The shard of the store.
  public init(
    of copy: StoreCopy, testing tracker: IdleTracker, withholding work: WithheldWork,
    original: Shard
  ) {
    let settings = TestSettings(
      start: copy.time, outside: work == .fail ? .fail : .hang, waitsForExchanges: true)
    self.init(
      testing: tracker, settings, kinds: original.kinds, limits: original.limits, observers: [],
      journal: nil, measuresTurns: false, journalFailed: { _ in }, storeFailed: { _ in })
  }

  /// Begins the copy: opens the store in its earlier state, and sends it the inputs that it has received
  /// since, each at its time.
  ///
  /// Work that ran at that time is not in the copy. A durable store begins as after a restart
  /// (`DurableMachine.resumption(in:)`).
  ///
  /// - Parameters:
  ///   - copy: The store at an earlier revision.
  ///   - sendsInputs: False to send it no inputs.
  ///   - now: The present time.
  /// - Returns: The key of the session with the store.
  /// - Throws: `JSONError` if the store cannot be opened in this state.
  public func begin(
    _ copy: StoreCopy, sendsInputs: Bool, at now: ContinuousClock.Instant
  ) throws(JSONError) -> SessionKey {
    guard let kind = kind(copy.kind) else {
      throw JSONError(.value, "there is no store kind \(copy.kind.quoted())")
    }
    let state = try copy.state.value
    let opening = StoreOpening(
      copy.store, kind: copy.kind,
      configuration: try JSONValue(parsing: copy.configuration, limits: .stored), of: kinds)
    let session = Session(isolation: self)
    let result = turn {
      Result { () throws(JSONError) in
        let handle = session.promote(copy.owner, self)
        let content = try session.content(
          opening, kind, from: StoreOrigin(revision: copy.revision, state: state, isCopy: true),
          self)
        let entry = StoreEntry(name: copy.store, content, session.account, turnOutcome)
        record(session, at: now)
        session.take(entry, self)
        let scope = "copy/\(UInt64.random(in: 0 ... .max))"
        if entry.store.prepareRecord(scope: scope, epoch: 0) {
          entry.store.resume(areSomeLost: false)
        }
        self.copy = RunningCopy(session, copy, sendsInputs: sendsInputs)
        continueCopy()
        return SessionKey.handle(handle)
      }
    }
    return try result.get()
  }

  /// Ends the copy and its work.
  public func endCopy() {
    for case .handle(let handle) in sessionKeys {
      guard let session = directory[handle] else { continue }
      turn { session.endByOperator(isolation: self) }
    }
    testing?.cancelAdvances()
  }

  /// The progress of the copy that runs on this shard; nil on the shards of a server.
  public var copyProgress: CopyProgress? {
    guard let copy, let testing else { return nil }
    return copy.progress(isBusy: testing.isBusy)
  }
}

/// The progress of a copy.
public struct CopyProgress: Sendable {
  /// The number of inputs that it receives again.
  public let total: Int
  /// The number of those that it has received.
  public let sent: Int
  /// The number of those that it has refused.
  public let refused: Int
  /// True while inputs or advances of the clock have not ended.
  public let isBusy: Bool
}
