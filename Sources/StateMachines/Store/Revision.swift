// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The number of states that a store has published after its first one, which is revision 0.
///
/// - Units: published states; below 2^53, so that the number types of all languages hold it
///   exactly.
public typealias Revision = Int

/// The id of one accepted input within its store; an id is never used twice.
public struct InputID: Hashable, Sendable {
  /// The number of the input, counted from the first store with this name.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The id of one listener within its store.
public struct ListenerID: Hashable, Sendable {
  let rawValue: Int
}

/// The immediate result of an input.
public struct SendResult: Sendable {
  /// The id of the input, to cancel its effects or to wait for their end.
  public let inputID: InputID
  /// The state before the input.
  public let base: StateMark
  /// The revision after the input's immediate actions.
  public let revision: Revision
  /// True if the immediate actions changed the view state.
  public let changed: Bool
  /// True if no effect of the input still runs.
  public let isSettled: Bool
  /// True if no exchange of the input still delays the response.
  public let isReplied: Bool
}

/// A mark of a published state, to compare it with a later one; see `AnyStore.hasChanged`.
public struct StateMark: Sendable {
  /// The revision of the state.
  public let revision: Revision
  /// The mark of the encoded state; nil where at most one publication was expected to follow.
  let state: JSONEncodedState.Mark?
}

/// The final result of an input.
public struct Completion: Sendable {
  /// The revision at the time of the report.
  public let revision: Revision
  /// The way in which the input has ended.
  public let end: End
  /// The state before the first change of the view state by replies to exchanges of the input and by
  /// later actions, as its sender sees it; nil if there is none, or if an earlier response has used it.
  public let base: StateMark?
  /// True if the last effect of the input was cancelled.
  public let wasCancelled: Bool

  /// The way in which an input has ended.
  public enum End: Sendable {
    /// All its effects have ended.
    case settled
    /// The store was closed.
    case closed
    /// An effect has refused the input. Indirect, because other ends are more frequent and are
    /// copied.
    indirect case refused(InputRefusal)
  }

  /// True if the store was closed before all effects had ended.
  public var wasClosed: Bool { if case .closed = end { true } else { false } }
  /// The reason if an effect has refused the input; nil otherwise.
  public var refusal: InputRefusal? { if case .refused(let refusal) = end { refusal } else { nil } }

  /// Returns the same report at the revision of another view of the store.
  package func at(_ revision: Revision) -> Completion {
    Completion(revision: revision, end, base: base, wasCancelled: wasCancelled)
  }

  /// Creates a completion.
  public init(
    revision: Revision, _ end: End, base: StateMark? = nil, wasCancelled: Bool = false
  ) {
    self.revision = revision
    self.end = end
    self.base = base
    self.wasCancelled = wasCancelled
  }
}

/// One new value of a store's view state. It is valid during the call that passes it.
public struct Publication: ~Copyable {
  /// The revision at which `patch` starts; nil for the value at the time of subscribing.
  public let base: Revision?
  /// The revision of this value.
  public let revision: Revision
  /// The RFC 6902 operations that lead from `base` to `revision`, as JSON text; nil if `base` is
  /// nil or no listener needs patches.
  public let patch: UnsafeRawBufferPointer?
  /// True if the change hides something that earlier values contained; see
  /// `StateMachine.isRedaction(_:)`.
  public let isRedaction: Bool
  // The store instead of the value: most listeners need only the patch. The store exists longer
  // than the publication, because it calls the listeners and they cannot keep a borrowed value.
  unowned(unsafe) let store: any AnyStore

  /// Writes the whole value as JSON text.
  public func writeState(to writer: inout JSONWriter) {
    store.writeState(to: &writer)
  }
}

/// The reason why a store refused an input.
public enum StoreError: Error, Equatable {
  /// The store has been closed; nothing has changed.
  case closed
  /// A state after one of the input's actions cannot be encoded. The store continues from the
  /// previous state, and the effects of the input are cancelled.
  indirect case unencodable(JSONError)
}
