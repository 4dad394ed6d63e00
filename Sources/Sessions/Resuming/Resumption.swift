// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// What a frontend asks for that wants to be attached to a session.
public struct AttachRequest {
  /// The session's handle, as it came.
  public var handle: String
  /// Whose hands the handle is in; nil where there are no identities.
  public var identity: String?
  /// The frontend's name in the session; nil for none.
  public var frontend: String?
  public var role: FrontendRole
  /// The stores to subscribe to, each with the revision held.
  public var revisions: [(store: String, revision: Revision?)]

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

/// How a frontend that has attached is brought up to date.
public struct Resumption {
  /// One store that it has named.
  public struct Store {
    public let name: String
    public let answer: Answer
  }

  /// What it gets of a store.
  public enum Answer {
    /// The frames that it has missed, so many.
    case replayed(Int, Subscription)
    /// The state.
    case snapshot(SessionAttach.SnapshotReason, Subscription)
    /// Nothing: the store was closed.
    case closed
  }

  public let stores: [Store]
  /// The last `sequence` that the named frontend has had accepted; nil for one without a name.
  public let sequence: Int?
}
