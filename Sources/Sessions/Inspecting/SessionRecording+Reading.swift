// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
public import StateMachines
public import StatewireJSON

extension SessionRecording {
  /// Returns the events after one, the oldest first, and records the time of the reading.
  ///
  /// - Parameters:
  ///   - number: The number of an event; events before `first` are gone.
  ///   - limit: The greatest number of events.
  ///   - now: The present time.
  public func events(
    after number: Int, limit: Int, at now: ContinuousClock.Instant
  ) -> [RecordedEvent] {
    lastRead = now
    let start = min(max(0, max(0, number) - first + 1), events.count)
    return events[start..<min(start + limit, events.count)].map {
      $0.number <= (redactions[$0.store] ?? 0) ? $0.redacted : $0
    }
  }

  /// Returns the parts of a store's view state at a revision; nil if they are not kept any more, were
  /// too large, or have been redacted.
  ///
  /// - Complexity: O(events).
  public func state(of store: String, at revision: Revision) -> EarlierState? {
    parts(of: store, at: revision)?.shown
  }

  /// Returns the parts of a store's view state at a revision, and those of the state from which a copy
  /// can begin, which is nil if the state cannot be copied.
  func parts(
    of store: String, at revision: Revision
  ) -> (shown: EarlierState, copyable: EarlierState?)? {
    var (patches, hiddenPatches): ([[UInt8]], [[UInt8]]) = ([], [])
    var next = revision
    for event in events.reversed() where event.store.hasSameBytes(as: store) {
      if event.number <= (redactions[store] ?? 0) { return nil }
      switch event.content {
      case .updated(let base, next, let patch, let hidden):
        guard let patch else { return nil }
        patches.append(patch)
        hiddenPatches.append(hidden ?? [])
        next = base
      case .state(let state, let copyable, next):
        let shown = EarlierState(state: state, patches: patches.reversed(), kind: event.kind)
        switch copyable {
        case .none: return (shown, nil)
        case .shown: return (shown, shown)
        case .hidden(let state):
          return (
            shown,
            EarlierState(state: state, patches: hiddenPatches.reversed(), kind: event.kind)
          )
        }
      default: continue
      }
    }
    return nil
  }
}

/// A state and the patches that lead from it to a later one.
public struct EarlierState: Sendable {
  /// The state.
  let state: JSONEncodedState
  /// The patches, as JSON text, in their order.
  let patches: [[UInt8]]
  /// The name of the store's kind.
  public let kind: String

  /// The state with all its patches applied.
  public var value: JSONValue {
    get throws(JSONError) {
      var writer = JSONWriter(reserving: state.expectedBytes)
      state.write(to: &writer)
      var value = try JSONValue(parsing: writer.bytes(), limits: .stored)
      for patch in patches {
        try JSONPatch(parsing: patch, limits: .stored).apply(inPlace: &value, limits: .stored)
      }
      return value
    }
  }
}
