// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// A client as its session sees it, on the shard's loop.
public protocol Client: AnyObject {
  /// The name of the identity whose connection it has; nil where there are no identities.
  var owner: String? { get }

  /// A store that it has subscribed to has changed.
  ///
  /// - Parameters:
  ///   - frame: The change.
  ///   - subscription: The client's subscription to the store.
  /// - Returns: Whether the frame is on its way. If not, since the frontend does not read, its place
  ///   among what waits is kept, and `subscription.takeWaiting` is called when it reads again; what
  ///   comes until then is merged into it.
  func storeChanged(_ frame: borrowing Update, of subscription: Subscription) -> Bool

  /// A store whose whole state it wants with each change has changed, and that is so large that it is not written
  /// each time: `subscription.takeWaiting` is called later, and what comes until then is merged into it.
  func storeChangedWholly(_ subscription: Subscription)

  /// What waits for a frontend that does not read has to go no further than now: what comes next is
  /// no change that could be merged into it.
  func finishWaiting(_ subscription: Subscription)

  /// It takes what it has followed until now, and follows nothing any more (`Subscription.follow`).
  ///
  /// Called before it is told what those who look on are not told; it may do so at any time itself.
  func endFollowing()

  /// Something that it follows is sent: it takes what has come of all that it follows.
  ///
  /// It may have stopped following in the meantime, or be gone.
  func sendFollowed()

  /// Something happened once in a store that it has subscribed to.
  ///
  /// - Parameters:
  ///   - store: The store's name.
  ///   - event: What happened, as JSON text that is valid during the call.
  func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer)

  /// Something was observed in the session that it traces.
  func traced(_ line: TraceLine)

  /// Somebody has closed a store that it has used.
  func storeClosed(_ store: String)

  /// Another frontend of the session has come, gone or changed its role.
  func presenceChanged(_ presence: Presence)

  /// Nothing more can be told to it on this connection, which ends; it may come back on another one.
  func cutOff()

  /// It has lost its session; it is told nothing more of it.
  func sessionClosed(_ session: SessionHandle, reason: SessionClosed.Reason)
}

extension Client {
  public var owner: String? { nil }
}

/// A change among the frontends of a session.
public struct Presence: Equatable {
  /// The name of the one that has changed; nil if it has none.
  public let frontend: String?
  public let change: SessionPresence.Change
  public let role: FrontendRole
  /// How many there are now.
  public let attached: Int
}

/// One change of a store on its way to frontends, valid during the call that brings it.
public struct Update: ~Copyable {
  /// The revision before.
  public let base: Revision
  /// The revision after.
  public let revision: Revision
  /// The operations that lead from the one to the other, as JSON text; empty in a replay.
  public let patch: UnsafeRawBufferPointer
  /// Whether it hides what frames before it have shown.
  public let isRedaction: Bool
  /// The members of the notification's parameters but for `applied`, as JSON text without braces;
  /// the same bytes for every frontend that takes the same format.
  public let members: UnsafeRawBufferPointer
  /// What a frontend may follow that only looks on, in place of taking each change (`Subscription.follow`);
  /// nil where nothing can be followed.
  public let text: BroadcastUpdates?
}
