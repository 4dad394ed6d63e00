// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import StatewireProtocol

@testable import Sessions

/// A client that records the notifications that it receives.
///
/// It leaves a session only when a test makes it leave, as when the process ends.
final class Listener: Client {
  let owner: String? = nil
  let queuedBytes = 0
  var session: Session { participants[0].session }
  /// Updates as `applied: members`, events as `store! event`, ends as `store: reason`.
  private(set) var heard: [String] = []
  /// True while it does not read.
  private(set) var isCongested = false
  /// The subscriptions with pending updates, in the order in which it will read them.
  private var places: [Subscription] = []
  /// The lines of the trace that it requested.
  private(set) var traced: [TraceLine] = []
  private var participants: [Participant] = []
  private var known: ClientID?
  private weak var shard: Shard?
  private var waiter: (count: Int, continuation: CheckedContinuation<Void, Never>)?

  // A session and its members retain each other.
  deinit {
    for participant in participants { participant.session.participants.remove(participant) }
  }

  /// Returns a participant in a new session.
  func join(on shard: isolated Shard) -> Participant {
    join(Participant(id(on: shard), isolation: shard))
  }

  /// Returns its id. The shard has the client in its table from then on.
  func id(on shard: isolated Shard) -> ClientID {
    if let known, self.shard === shard { return known }
    let id = shard.clients.makeID()
    shard.clients.add(self, as: id)
    (known, self.shard) = (id, shard)
    return id
  }

  /// Retains a participant for as long as the client exists, and returns it.
  func join(_ participant: Participant) -> Participant {
    participants.append(participant)
    return participant
  }

  func storeChanged(_ update: borrowing Update, of subscription: Subscription) -> Bool {
    guard !isCongested else {
      places.append(subscription)
      return false
    }
    hear(update.members, subscription.lastApplied)
    return true
  }

  func leaveBroadcasts() {}

  func sendBroadcasts() {}

  func finishWaiting(_ subscription: Subscription) {
    places.removeAll { $0 === subscription }
    hearWaiting(subscription)
  }

  func largeStateChanged(_ subscription: Subscription) { places.append(subscription) }

  private func hearWaiting(_ subscription: Subscription) {
    guard let change = subscription.takeWaiting() else { return }
    var members = JSONWriter()
    change.write(to: &members)
    members.withBytes { hear($0, change.applied) }
  }

  private func hear(_ members: UnsafeRawBufferPointer, _ applied: [UInt8]) {
    let applied = String(decoding: applied, as: UTF8.self)
    hear("\(applied): \(String(decoding: members, as: UTF8.self))")
  }

  /// Stops reading.
  func stop() { isCongested = true }

  /// Reads the updates that arrived since it stopped.
  func catchUp() {
    isCongested = false
    for subscription in places { hearWaiting(subscription) }
    places.removeAll()
  }

  func presenceChanged(_ presence: Presence) {
    hear(
      "\(presence.frontend ?? "unnamed") \(presence.change) \(presence.role) "
        + "of \(presence.attached)")
  }

  func sessionClosed(_ session: SessionHandle, reason: SessionClosed.Reason) {
    hear("lost: \(reason)")
  }

  func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer) {
    hear("\(store)! \(String(decoding: event, as: UTF8.self))")
  }

  func traced(_ line: TraceLine) { traced.append(line) }

  /// The number of times the shard disconnected it.
  private(set) var cuts = 0
  func disconnect() { cuts += 1 }
  func lose() { disconnect() }
  func discard() { disconnect() }

  func storeClosed(_ store: String) {
    hear("\(store): closed")
  }

  func take() -> [String] {
    defer { heard.removeAll() }
    return heard
  }

  /// Waits until it has recorded `count` notifications.
  func hears(_ count: Int, on shard: isolated Shard) async {
    if heard.count >= count { return }
    await withCheckedContinuation { waiter = (count, $0) }
  }

  private func hear(_ text: String) {
    heard.append(text)
    if let (count, continuation) = waiter, heard.count >= count {
      waiter = nil
      continuation.resume()
    }
  }
}

/// A counter, which can also count after a delay.
struct Counter: StateMachine {
  enum Input: Codable, Sendable {
    case add(amount: Int)
    /// Publishes several updates.
    case addEach(amounts: [Int])
    /// Adds after a second of the clock.
    case addLater(amount: Int)
  }
  struct State: Codable, Sendable { var count: Int }

  let initialState: State

  init(from count: Int = 0) { initialState = State(count: count) }

  func effect(of input: Input, in state: State) -> Effect<Int> {
    switch input {
    case .add(let amount): .action(amount)
    case .addEach(let amounts): .several(amounts.map { .action($0) })
    case .addLater(let amount):
      .run("later") { context in
        do { try await context.sleep(for: .seconds(1)) } catch { return }
        await context.send(amount)
      }
    }
  }

  func reduce(_ state: inout State, _ action: Int) { state.count += action }
}

struct CounterConfiguration: Decodable, Sendable {
  var start: Int?
}

extension [StoreKind] {
  static var counters: [StoreKind] {
    [
      StoreKind("counter") { Counter() },
      StoreKind("from", configuration: CounterConfiguration.self) {
        Counter(from: $0.start ?? 0)
      },
    ]
  }
}

extension Subscription {
  /// Sends an input on behalf of a request.
  @discardableResult
  func send(_ input: String, request: String? = nil) throws(SessionError) -> SendResult? {
    let input = Array(input.utf8)
    return try input.withBytes { input throws(SessionError) in
      var reader = JSONReader(input)
      guard let request else { return try send(reading: &reader, request: nil) }
      return try Array(request.utf8).withBytes { request throws(SessionError) in
        try send(reading: &reader, request: request)
      }
    }
  }

  var stateText: String {
    var writer = JSONWriter()
    state.write(to: &writer)
    return writer.string()
  }
}

extension [UInt8] {
  fileprivate func withBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try span.withUnsafeBytes(body)
  }
}
