// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The subscription of a client to a store. States are not decoded here.
final class StoreRecord {
  /// A change that is applied to the server's state until its input has a result.
  struct OptimisticUpdate {
    let change: StoreSnapshot.Change
    let untilSettled: Bool
    let input: Input
  }

  /// The number of the subscription. A store that was closed and opened again has another number.
  let number: Int
  let name: String
  let kind: String
  let config: JSONValue?

  /// True after `open`: the subscription lasts until `unsubscribe`.
  var isKept = false
  /// The number of bodies of `withStore` that use the subscription.
  var users = 0
  /// True while the client subscribes to the store on each connection.
  var isSubscribed = false
  /// The number of requests to subscribe without a response.
  var openSubscriptions = 0
  /// The number of times that the whole state was requested, by divergence.
  var resyncs: [Divergence: Int] = [:]
  /// Notified when the state has changed.
  var signal = Signal()
  var events = Broadcast<JSONValue>()
  private(set) var replica: Replica?
  private var optimisticUpdates: [OptimisticUpdate] = []

  init(number: Int, name: String, kind: String, config: JSONValue?) {
    self.number = number
    self.name = name
    self.kind = kind
    self.config = config
  }

  /// The current state.
  var snapshot: StoreSnapshot? {
    replica.map {
      StoreSnapshot(
        revision: $0.revision, confirmed: $0.state, optimistic: optimisticUpdates.map(\.change))
    }
  }

  /// Takes a replica, which may be another object than before, and reports its state.
  func held(_ replica: Replica?) {
    if let replica { self.replica = replica }
    signal.notify()
  }

  /// Handles an update; `applied` is the last request of this connection that it includes.
  func changed(applied: Int?) {
    if let applied, !optimisticUpdates.isEmpty {
      optimisticUpdates.removeAll { update in
        !update.untilSettled && update.input.request.map { $0 <= applied } ?? false
      }
    }
    signal.notify()
  }

  /// Adds an optimistic update.
  func add(_ update: OptimisticUpdate) {
    optimisticUpdates.append(update)
    signal.notify()
  }

  /// Removes the optimistic update of an input.
  func dropUpdate(_ input: Input?) {
    let count = optimisticUpdates.count
    optimisticUpdates.removeAll { $0.input === input }
    if optimisticUpdates.count != count { signal.notify() }
  }

  /// Ends the subscription.
  func end(_ error: (any Error)?) {
    isSubscribed = false
    signal.end(throwing: error)
    events.end(throwing: error)
  }
}

/// The state of a store at one moment.
struct StoreSnapshot: Sendable {
  typealias Change = @Sendable (any Sendable) -> any Sendable

  let revision: Int
  /// The server's state.
  let confirmed: JSONValue
  /// Optimistic updates, first to last.
  var optimistic: [Change]
}
