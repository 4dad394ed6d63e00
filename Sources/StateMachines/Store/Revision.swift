// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// How many states a store has published since its first one, which is revision 0.
///
/// - Units: published states; below 2^53, so that every language's numbers hold it.
public typealias Revision = Int

/// The name of one accepted input within its store; never used twice.
public struct InputID: Hashable, Sendable {
  /// Counts the inputs of the store, and of those that had its name before.
  public let rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The name of one listener within its store.
public struct ListenerID: Hashable, Sendable {
  let rawValue: Int
}

/// What became of an input at once.
public struct SendResult: Sendable {
  /// The input's name, to cancel its effects or wait for their end.
  public let inputID: InputID
  /// The state before the input.
  public let base: StateMark
  /// The revision after the input's immediate actions.
  public let revision: Revision
  /// Whether those actions changed what frontends see.
  public let changed: Bool
  /// Whether nothing that the input set off is still running.
  public let isSettled: Bool
}

/// A state that a store has published, to be compared with a later one; see `AnyStore.hasChanged`.
public struct StateMark: Sendable {
  /// The revision of the state.
  public let revision: Revision
  /// The state; nil where at most one publication was expected to follow.
  let state: JSONEncodedState.Mark?
}

/// What became of an input in the end.
public struct Completion: Sendable {
  /// The revision when the end is reported.
  public let revision: Revision
  public let end: End

  /// How an input has ended.
  public enum End: Sendable {
    /// All its effects have ended.
    case settled
    /// The store was closed.
    case closed
    /// An effect has refused the input. Indirect, since most ends are others, and are copied.
    indirect case refused(InputRefusal)
  }

  public var wasClosed: Bool { if case .closed = end { true } else { false } }
  /// The reason of an effect that has refused the input; nil if none has.
  public var refusal: InputRefusal? { if case .refused(let refusal) = end { refusal } else { nil } }

  public init(revision: Revision, _ end: End) {
    self.revision = revision
    self.end = end
  }
}

/// One new value of a store's view state, valid during the call that brings it.
public struct Publication: ~Copyable {
  /// The revision that `patch` starts from; nil when this is the value at the time of subscribing.
  public let base: Revision?
  /// The revision of this value.
  public let revision: Revision
  /// The RFC 6902 operations that lead from `base` to `revision`, as JSON text; nil with `base`, or
  /// where no listener needs them.
  public let patch: UnsafeRawBufferPointer?
  /// Whether it hides what earlier values have shown; see `StateMachine.isRedaction(_:)`.
  public let isRedaction: Bool
  // Not the value itself, of which most listeners want no more than the patch. The store is there as long
  // as this is, because it calls the listeners, and they cannot keep what they only borrow.
  unowned(unsafe) let store: any AnyStore

  /// Writes the whole value as JSON text.
  public func writeState(to writer: inout JSONWriter) {
    store.writeState(to: &writer)
  }
}

/// Why a store refused an input.
public enum StoreError: Error, Equatable {
  /// The store has been closed; nothing has changed.
  case closed
  /// A state that the input led to cannot be encoded: the store continues from the state before, and the effects of the
  /// input are cancelled.
  indirect case unencodable(JSONError)
}
