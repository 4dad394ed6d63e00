// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Why a session refused something; nothing has changed then.
public enum SessionError: Error {
  /// No store has this name, and no kind either.
  case unknownStore(String)
  /// There is no such kind of store.
  case unknownKind(String)
  /// The store was closed.
  case storeClosed(String)
  /// The store is open with another kind or configuration.
  case otherConfiguration(String)
  /// The configuration is not one of the kind; the path leads into the configuration.
  case configuration(JSONError)
  /// The input is not one of the store; the path leads into the text it was read from.
  case input(JSONError)
  /// A state that the input led to cannot be encoded; the path leads into the state. The input counts as refused.
  case unencodable(JSONError)
  /// There is no session with this handle, and as far as is known there never was.
  case unknownSession
  /// The session is over: nobody was attached to it for too long, or somebody has closed it.
  case expiredSession
  /// The session is not restored, since its restored work has crashed the process.
  case setAside
  /// The session cannot be loaded at the moment, since the journal cannot be read.
  case unreadable
  /// The frontend is an observer.
  case observer
  /// Only a frontend with a name can number its inputs.
  case nameless
  /// An input with this sequence, which comes before, was refused for the moment and has not come again.
  case outOfOrder(Int)
  /// A limit was met.
  case limit(Limit)

  /// The limits that a session keeps.
  public enum Limit: String, CaseIterable, Sendable {
    case storesPerSession
    case storeNameBytes
    case sessions
    case sessionsPerIdentity
    case frontendNames
    case frontendNameBytes
    case bytesPerSession
    case bytesPerIdentity
    case bytes
  }
}
