// SPDX-License-Identifier: Apache-2.0

public import StateMachines
public import StatewireProtocol

/// The interface through which a session sends messages to a client, on the shard's event loop.
public protocol Client: AnyObject {
  /// The name of the identity of the client's connection; nil if there are no identities.
  var owner: String? { get }
  /// The session of the client's participant.
  var session: Session { get }

  /// The bytes that wait for the client to read them.
  var queuedBytes: Int { get }

  /// Handles an update of a store to which the client has subscribed.
  ///
  /// - Parameters:
  ///   - update: The update.
  ///   - subscription: The client's subscription to the store.
  /// - Returns: True if the update has been written. False if the client does not read. The client
  ///   then keeps the place of the update in its queue and calls `subscription.takeWaiting` when it
  ///   reads again; later changes are coalesced with the update until then.
  func storeChanged(_ update: borrowing Update, of subscription: Subscription) -> Bool

  /// Handles a change of a large store for a subscription in the format `state`.
  ///
  /// Such a state is not written for each change. The client calls `subscription.takeWaiting`
  /// later; further changes are coalesced until then.
  func largeStateChanged(_ subscription: Subscription)

  /// Writes the coalesced update of a subscription as it is now, because the next change cannot be
  /// coalesced with it.
  func finishWaiting(_ subscription: Subscription)

  /// Takes the remaining updates from its broadcast buffers, and leaves the buffers.
  ///
  /// It is called before a message that the other passive subscribers do not receive. The client
  /// may do the same at any other time.
  func leaveBroadcasts()

  /// Takes the new updates from all its broadcast buffers, because one of them is sent.
  ///
  /// The client may have left the buffers in the meantime.
  func sendBroadcasts()

  /// Handles an event of a store to which the client has subscribed.
  ///
  /// - Parameters:
  ///   - store: The store's name.
  ///   - event: The event as JSON text; it is valid during the call.
  func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer)

  /// Handles a line of the trace that the client has requested.
  func traced(_ line: TraceLine)

  /// Handles the closing of a store to which the client has subscribed.
  func storeClosed(_ store: String)

  /// Handles a change of another participant of the session.
  func presenceChanged(_ presence: Presence)

  /// Disconnects the client, which can attach again on another connection.
  func disconnect()

  /// Disconnects the client, because the journal lacks entries of its session.
  func lose()

  /// Disconnects the client and discards everything that was not passed to its output, because
  /// another node owns the session.
  func discard()

  /// Handles the loss of the session; the client receives no more messages of it.
  func sessionClosed(_ session: SessionHandle, reason: SessionClosed.Reason)
}

/// A change among the participants of a session.
public struct Presence: Equatable {
  /// The frontend's name of the participant that has changed; nil if it has none.
  public let frontend: String?
  /// The kind of the change.
  public let change: SessionPresence.Change
  /// The role of the participant.
  public let role: FrontendRole
  /// Number of participants after the change.
  public let attached: Int
}

/// One update of a store, in one format; valid during the call that passes it.
public struct Update: ~Copyable {
  /// The revision before the change.
  public let base: Revision
  /// The revision after the change.
  public let revision: Revision
  /// The RFC 6902 operations from `base` to `revision`, as JSON text.
  public let patch: UnsafeRawBufferPointer
  /// True if the change hides something that earlier updates have shown.
  public let isRedaction: Bool
  /// The members of the notification's parameters except `applied`, as JSON text without braces;
  /// the same bytes for all subscriptions in the same format.
  public let members: UnsafeRawBufferPointer
  /// The broadcast buffer that contains the update for passive subscribers; nil if there is none.
  public let broadcast: BroadcastUpdates?
}
