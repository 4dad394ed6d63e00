// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import Dispatch
import EmbeddedStorage
import SQLiteSessionJournal
import StateMachines
import StatewireJSON
import StorageTestSupport

@testable import SQLiteTodoDatabase
@testable import Sessions

/// A journal that stops when its process is killed: from then on, each call fails.
// @unchecked because one shard's loop at a time calls it.
final class MortalJournal: SessionJournal, @unchecked Sendable {
  struct Dead: Error {}

  private var journal: SQLiteJournal?

  init(_ folder: String) throws { journal = try SQLiteJournal(folder: folder) }

  func die() { journal = nil }

  func commit(_ entries: [JournalEntry]) throws {
    guard let journal else { throw Dead() }
    try journal.commit(entries)
  }

  func load() throws -> JournalContents {
    guard let journal else { throw Dead() }
    return try journal.load()
  }

  func start() throws -> JournalStart {
    guard let journal else { throw Dead() }
    return try journal.start()
  }

  func continuing(after position: Int64?, limit: Int) throws -> ContinuingSessions {
    guard let journal else { throw Dead() }
    return try journal.continuing(after: position, limit: limit)
  }

  func endExpired(at time: Duration, limit: Int) throws -> Int {
    guard let journal else { throw Dead() }
    return try journal.endExpired(at: time, limit: limit)
  }

  func load(_ session: SessionHandle) throws -> LoadedSession {
    guard let journal else { throw Dead() }
    return try journal.load(session)
  }
}

/// Runs `body` in a process with a folder: a shard with the built-in kinds, its database and its
/// journal, with a clock that only the test advances. The process is killed when `body` returns.
func live<Result: Sendable>(
  _ folder: String, _ ids: CountedIDs,
  _ body: @Sendable (isolated Shard, MortalJournal) async throws -> Result
) async throws -> Result {
  let outside = OutsideWork()
  let database = EmbeddedDatabase(
    folder: folder, makeID: ids.make, busy: outside.begin, failed: { _ in })
  let journal = try MortalJournal(folder)
  let queue = DispatchQueue(label: "shard")
  let rest = IdleTracker(
    outside: outside, checkThread: { dispatchPrecondition(condition: .onQueue(queue)) },
    execute: { work in queue.async(execute: work) })
  let shard = Shard(testing: rest, kinds: .builtin(database), journal: journal)
  let result = try await shard.restored { shard in
    defer { journal.die() }
    return try await body(shard, journal)
  }
  await database.close()
  return result
}

/// Returns the titles of a list in the database.
func titles(_ folder: String, list: String = "default") async throws -> [String] {
  let database = EmbeddedDatabase(folder)
  let titles = try await database.todoLists.file.write { db in
    try StoredList(named: list, in: db)?.todos().todos.map(\.title) ?? []
  }
  await database.close()
  return titles
}

extension Shard {
  fileprivate func restored<Result: Sendable>(
    _ body: @Sendable (isolated Shard) async throws -> Result
  ) async throws -> Result {
    _ = try restore()
    return try await body(self)
  }

  /// Returns when the shard is idle.
  func pass() async {
    await withCheckedContinuation { continuation in
      turn { testing!.advance(by: .zero) { continuation.resume() } }
    }
  }

  /// Attaches a client with the name "phone" to a new session with a handle.
  func open(for frontend: SilentClient) throws -> (Participant, SessionHandle) {
    let participant = frontend.join(Participant(frontend.id(on: self), isolation: self))
    let handle = try turn {
      try participant.session.open(for: participant, named: "phone", identity: nil, isolation: self)
    }
    return (participant, handle)
  }

  /// Attaches a client with the name "phone" again, and returns its last sequence number.
  func attach(_ frontend: SilentClient, to handle: SessionHandle) throws -> (Participant, Int?) {
    try turn {
      let request = AttachRequest(handle: handle.description, frontend: "phone")
      let (participant, resumption) = try attach(
        request, from: frontend.join(Participant(frontend.id(on: self), isolation: self)))
      return (frontend.join(participant), resumption.sequence)
    }
  }

  /// Sends an input to the list, in a separate turn.
  func send(_ input: String, _ participant: Participant, sequence: Int? = nil) throws {
    try turn {
      let subscription = try participant.subscription("todo", isolation: self)
      let bytes = Array(input.utf8)
      let receipt = try bytes.withUnsafeBytes { bytes in
        var reader = JSONReader(bytes)
        return try subscription.send(reading: &reader, request: nil)
      }
      if let sequence, let receipt { participant.accepted(sequence, receipt, subscription) }
    }
  }

  func add(_ title: String, _ participant: Participant, sequence: Int? = nil) throws {
    try send(#"{"type":"todoAdded","title":"\#(title)"}"#, participant, sequence: sequence)
  }
}

/// A client that ignores notifications, and does not leave its session, as when its process ends.
final class SilentClient: Client, Sendable {
  let owner: String?
  let queuedBytes = 0
  var session: Session { seats.withLock { $0[0].session } }
  private let seats = Lock<[Participant]>([])

  init(owner: String? = nil) { self.owner = owner }

  // A session and its participants retain each other.
  deinit {
    for participant in seats.withLock({ $0 }) {
      participant.session.participants.remove(participant)
    }
  }

  /// Returns a new id. The shard has the client in its table from then on.
  func id(on shard: isolated Shard) -> ClientID {
    let id = shard.clients.makeID()
    shard.clients.add(self, as: id)
    return id
  }

  /// Retains a participant for as long as the client exists, and returns it.
  func join(_ participant: Participant) -> Participant {
    seats.withLock { $0.append(participant) }
    return participant
  }

  func leaveBroadcasts() {}
  func sendBroadcasts() {}
  func storeChanged(_ update: borrowing Update, of subscription: Subscription) -> Bool { true }
  func largeStateChanged(_ subscription: Subscription) {}
  func finishWaiting(_ subscription: Subscription) {}
  func storeEvent(_ store: String, _ event: UnsafeRawBufferPointer) {}
  func traced(_ line: TraceLine) {}
  func disconnect() {}
  func lose() {}
  func discard() {}
  func storeClosed(_ store: String) {}
  func presenceChanged(_ presence: Presence) {}
  func sessionClosed(_ session: SessionHandle, reason: SessionClosed.Reason) {}
}
