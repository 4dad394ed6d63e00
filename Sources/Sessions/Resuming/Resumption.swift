// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// The parameters of a request to attach to a session.
public struct AttachRequest {
  /// The session's handle, as in the request.
  public var handle: String
  /// The identity of the client; nil if there are no identities.
  public var identity: String?
  /// The frontend's name in the session; nil for none.
  public var frontend: String?
  /// The role in the session.
  public var role: FrontendRole
  /// The stores to subscribe to, each with the revision that the client has; nil for none.
  public var revisions: [(store: String, revision: Revision?)]
  /// False if the client may have gone: the request then fails if it would evict another client.
  public var evicts = true

  /// Creates a request.
  public init(
    handle: String, identity: String? = nil, frontend: String? = nil, role: FrontendRole = .driver,
    revisions: [(store: String, revision: Revision?)] = []
  ) {
    self.handle = handle
    self.identity = identity
    self.frontend = frontend
    self.role = role
    self.revisions = revisions
  }
}

/// The result of attaching to a session.
public struct Resumption {
  /// One store of the request, and how the client is brought up to date.
  public struct Store {
    /// The name of the store.
    public let name: String
    /// The data that the client receives.
    public let outcome: Outcome
    /// The cause of the snapshot reason `reopened`; nil if a client has opened the store again, and
    /// for other outcomes.
    public let cause: SessionAttach.ReopeningCause?
    /// The state that could not be read and was kept aside when the store was restored last; nil if
    /// it could be read.
    public let keptAside: KeptAside?
  }

  /// A state that is kept aside.
  public struct KeptAside: Sendable {
    /// The revision of the state.
    public let revision: Revision
    /// The reason why it could not be read, with the path into the state.
    public let reason: String
  }

  /// The data with which the client is brought up to date.
  public enum Outcome {
    /// The updates that it missed; the number is their count.
    case replayed(Int, Subscription)
    /// The current state, because the missed updates cannot be sent.
    case snapshot(SessionAttach.SnapshotReason, Subscription)
    /// No data, because the store was closed.
    case closed
  }

  /// The stores, in the order of the request.
  public let stores: [Store]
  /// The sequence of the last accepted input of the frontend; nil for a frontend without a name.
  public let sequence: Int?
}
