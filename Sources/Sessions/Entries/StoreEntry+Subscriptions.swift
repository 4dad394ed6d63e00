// SPDX-License-Identifier: Apache-2.0

internal import StateMachines

// The subscriptions to a store.

extension StoreEntry {
  func attach(_ subscription: Subscription) {
    broadcast?.others = nil
    subscriptions.append(subscription)
  }

  func removeSubscriptions() {
    for entry in audienceEntries { entry.removeSubscriptions() }
    broadcast = nil
    // Its subscriptions retain this entry, and the store may be closed before the replies come.
    awaitedReplies.removeAll()
    subscriptions.removeAll()
  }

  func detach(_ subscription: Subscription) {
    broadcast?.others = nil
    subscriptions.remove(subscription)
    if subscription.format != nil { viewersChanged() }
    if isOfAudience { releaseIfUnused() }
  }

  /// The number of subscriptions, including the subscriptions of audiences.
  var subscriptionCount: Int {
    audienceEntries.reduce(subscriptions.count) { $0 + $1.subscriptions.count }
  }

  /// True if no client uses the store.
  var isUnused: Bool { subscriptions.count == 0 }

  /// The viewers that have subscribed, each with its place in the order of subscriptions.
  var subscribedViewers: [(order: UInt64, viewer: Viewer)] {
    subscriptions.filter { $0.format != nil }.map { ($0.order, $0.viewer) }
  }
}
