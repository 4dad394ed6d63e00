// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

/// The frame of a store's last change, until it is known whether it contains all immediate actions of
/// its request.
final class PendingUpdate {
  var base: Revision = 0
  var revision: Revision = 0
  var isRedaction = false
  /// The members of the notification's parameters but for `applied`.
  var members = JSONWriter()
  /// How far they are the same in every frame of the store; kept from one to the next.
  var headCount = 0
  /// Where the operations begin in them.
  var patchStart = 0
  /// The same with the whole state, if anybody wants that.
  var stateMembers = JSONWriter()
  /// Whether somebody wants that though it is so large that it is not written for each change.
  var isStateLarge = false
  /// Whether there is one.
  var isWaiting = false
  /// Whether it is let go of when the turn ends.
  var endsWithTurn = false

  /// The change with its members in one of the formats.
  func frame(
    _ patch: UnsafeRawBufferPointer, _ members: UnsafeRawBufferPointer, _ text: BroadcastUpdates?
  ) -> Update {
    Update(
      base: base, revision: revision, patch: patch, isRedaction: isRedaction, members: members,
      text: text)
  }

  /// Makes room for the next one.
  func removeAll() {
    if members.count <= Self.keptBytes {
      members.truncate(to: headCount)
    } else {
      members.removeAll(keepingCapacity: false)
      headCount = 0
    }
    isStateLarge = false
    stateMembers.removeAll(keepingCapacity: stateMembers.count <= Self.keptBytes)
  }

  // A buffer that one large frame has blown up is given back.
  private static var keptBytes: Int { 64 << 10 }
}
