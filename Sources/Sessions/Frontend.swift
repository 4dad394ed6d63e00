// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

/// What a session tells the connection of a frontend, on the shard's loop.
public protocol Frontend: AnyObject {
  /// A store that it has subscribed to has changed.
  func storeChanged(_ frame: borrowing ChangedFrame)

  /// Something happened once in a store that it has subscribed to.
  ///
  /// - Parameters:
  ///   - store: The store's name.
  ///   - event: What happened, as JSON text that is valid during the call.
  func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer)

  /// Something was observed in the session that it traces.
  func traced(_ line: TraceLine)

  /// A store that it has used is gone.
  func storeClosed(_ store: String, reason: ClosedReason)
}

/// Why a store is gone.
public enum ClosedReason: String, Sendable {
  /// Somebody closed it.
  case closed
}

/// One change of a store on its way to one frontend, valid during the call that brings it.
public struct ChangedFrame: ~Copyable {
  /// The members of the notification's parameters but for `applied`, as JSON text without braces;
  /// the same bytes for every frontend that takes the same format.
  public let members: UnsafeRawBufferPointer
  /// The id, as JSON text, of the latest request of this frontend whose immediate actions the
  /// frame contains; empty if there was none.
  public let applied: [UInt8]
}
