// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireJSON

/// The reason why a session refused a request. Nothing has changed then, unless the method
/// documents otherwise.
public enum SessionError: Error {
  /// No store and no kind has this name.
  case unknownStore(String)
  /// No kind has this name.
  case unknownKind(String)
  /// The store with this name was closed.
  case storeClosed(String)
  /// The store with this name is open with another kind or configuration.
  case otherConfiguration(String)
  /// The kind does not accept the configuration; the path of the error leads into the
  /// configuration.
  case configuration(JSONError)
  /// The store cannot be opened before it is prepared; `Session.takeUnprepared` returns the opening.
  case unprepared
  /// The kind of the store cannot open it now, for example because its program does not run.
  case unavailable(String)
  /// The store does not accept the input; the path of the error leads into the text from which the
  /// input was read.
  case input(JSONError)
  /// A state after the input cannot be encoded; the path of the error leads into the state. The
  /// input counts as refused.
  case unencodable(JSONError)
  /// No session has this handle, and no known session had it.
  case unknownSession
  /// The session has ended: no client was attached for too long, or a client has closed it.
  case expiredSession
  /// The session is not restored, because its restored work has crashed the process.
  case setAside
  /// The session cannot be loaded at the moment, because the journal cannot be read.
  case unreadable
  /// The participant is an observer, which may not do this.
  case observer
  /// The kind of the store refuses this use to the participant.
  indirect case forbidden(InputRefusal)
  /// The frontend's name belongs to another client, which the request may not evict.
  case nameInUse
  /// The frontend has no name, so it cannot number its inputs.
  case nameless
  /// The input with this earlier sequence was refused temporarily and has not been sent again.
  case outOfOrder(Int)
  /// A limit would be exceeded.
  case limit(Limit)

  /// The limits of sessions; `SessionLimits` has the values.
  public enum Limit: String, CaseIterable, Sendable {
    /// Number of store names in a session, including closed stores.
    case storesPerSession
    /// Length of a store name, in bytes of UTF-8.
    case storeNameBytes
    /// Number of sessions with a handle.
    case sessions
    /// Number of sessions with a handle of one identity.
    case sessionsPerIdentity
    /// Number of frontend names that a session remembers.
    case frontendNames
    /// Length of a frontend name, in bytes of UTF-8.
    case frontendNameBytes
    /// Bytes of one session.
    case bytesPerSession
    /// Bytes of all sessions of one identity.
    case bytesPerIdentity
    /// Bytes of all sessions.
    case bytes
  }
}
