// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// The last update of a store, until it is known whether it includes all immediate actions of its
/// request.
final class PendingUpdate {
  /// The revision before the change.
  var base: Revision = 0
  /// The revision after the change.
  var revision: Revision = 0
  /// True if the change hides something that earlier updates have shown.
  var isRedaction = false
  /// The members of the notification's parameters except `applied`.
  var members = JSONWriter()
  /// Number of bytes at the start of `members` that are the same in each update of the store; they
  /// are kept for the next update.
  var headCount = 0
  /// The offset of the operations in `members`.
  var patchStart = 0
  /// The members with the whole state, if a subscription has the format `state`.
  var stateMembers = JSONWriter()
  /// True if a subscription has the format `state` and the state was not written for this change.
  var isStateOmitted = false
  /// True if there is an update.
  var isWaiting = false

  /// Returns the update with its members in one of the formats.
  func update(
    _ patch: UnsafeRawBufferPointer, _ members: UnsafeRawBufferPointer,
    _ broadcast: BroadcastUpdates?
  ) -> Update {
    Update(
      base: base, revision: revision, patch: patch, isRedaction: isRedaction, members: members,
      broadcast: broadcast)
  }

  /// Removes the update and prepares for the next one.
  func removeAll() {
    if members.count <= Self.keptBytes {
      members.truncate(to: headCount)
    } else {
      members.removeAll(keepingCapacity: false)
      headCount = 0
    }
    isStateOmitted = false
    stateMembers.removeAll(keepingCapacity: stateMembers.count <= Self.keptBytes)
  }

  // A buffer that has grown for one large update is released.
  private static var keptBytes: Int { 64 << 10 }
}
