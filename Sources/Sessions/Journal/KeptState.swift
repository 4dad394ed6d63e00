// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// A state that a machine could not read, kept in the journal until the operator removes it.
public struct KeptState: Sendable, Equatable {
  /// The session of the store.
  public var session: SessionHandle
  /// The identity that has opened the session; nil if there are no identities.
  public var owner: String?
  /// The name of the store.
  public var store: String
  /// The name of the store kind.
  public var kind: String
  /// The configuration of the store, as JSON text.
  public var configuration: [UInt8]
  /// The version of the machine that has journaled the state.
  public var version: Int
  /// The revision of the state.
  public var revision: Revision
  /// The folded state, as JSON text.
  public var state: [UInt8]
  /// The reason why it could not be read, with the path into the state.
  public var reason: String
  /// The time at which it was kept aside.
  ///
  /// - Units: since 1970.
  public var time: Duration

  /// Creates a kept state from its parts.
  public init(
    session: SessionHandle, owner: String?, store: String, kind: String, configuration: [UInt8],
    version: Int, revision: Revision, state: [UInt8], reason: String, time: Duration
  ) {
    self.session = session
    self.owner = owner
    self.store = store
    self.kind = kind
    self.configuration = configuration
    self.version = version
    self.revision = revision
    self.state = state
    self.reason = reason
    self.time = time
  }

  /// The values that identify a kept state.
  public struct Key: Hashable, Sendable {
    package let session: SessionHandle
    package let store: ByteString
    package let revision: Revision
  }

  /// The values that identify this state.
  public var key: Key { Key(session: session, store: ByteString(store), revision: revision) }
}

/// The reason why a store does not continue its earlier revisions: a client that holds one of them
/// receives a snapshot.
public enum StoreRenewal: Sendable, Equatable {
  /// A client has opened the store, or its last changes were lost with a damaged journal.
  case opened
  /// A newer version of the program has read the state in another form.
  case migrated
  /// The operator has put a state back that was kept aside.
  case restored
  /// The state could not be read: it was kept aside, and the store begins in its initial state.
  ///
  /// - Parameters:
  ///   - revision: The revision of the state that is kept aside.
  ///   - reason: The reason, with the path into the state.
  indirect case unreadable(revision: Revision, reason: String)
}
