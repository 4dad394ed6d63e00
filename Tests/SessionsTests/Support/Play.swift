// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON

@testable import Sessions

/// A snapshot of the sessions after a commit, immediately before clients are notified.
struct Moment: Sendable {
  struct Store: Sendable {
    let revision: Int
    let opened: Int
    let redacted: Int
    let state: String
    let isClosed: Bool
    let isDurable: Bool
    /// The updates that can be replayed to clients.
    let frames: [String]
  }

  struct StoreParameters: Sendable {
    let handle: SessionHandle
    let isOver: Bool
    let sequence: Int
    let stores: [String: Store]
    /// The inputs that the `errands` store has accepted.
    let sent: Sent
  }

  /// Accepted inputs.
  struct Sent: Sendable {
    var sum = 0
    var writes: [Int] = []
    var laters: [Int] = []
    var risks: [Int] = []
  }

  let commits: Int
  let bank: Bank
  let seats: [StoreParameters]
}

/// Clients that perform random steps.
final class Play {
  fileprivate final class StoreParameters {
    let name: String
    let listener = Listener()
    var participant: Participant
    let handle: SessionHandle
    var sequence = 0
    var sent = Moment.Sent()

    init(_ name: String, _ shard: isolated Shard) throws {
      self.name = name
      (participant, handle) = try shard.join(listener, named: name)
    }
  }

  private(set) var moments: [Moment] = []
  private var seats: [StoreParameters] = []
  private var generator: FixedNumbers
  private var lastItem = 0
  private let bank: Bank

  init(
    seed: UInt64, _ journal: MemoryJournal, _ bank: Bank, isolation shard: isolated Shard
  ) throws {
    generator = FixedNumbers(seed: seed)
    self.bank = bank
    for name in ["ann", "bob", "cid"] { seats.append(try StoreParameters(name, shard)) }
    journal.whenCommitted = { [unowned self] in
      let seats = seats.map { $0.seen() }
      moments.append(Moment(commits: journal.commits.count, bank: bank.copy(), seats: seats))
    }
  }

  /// Performs one random step of one client.
  func step(_ shard: isolated Shard) async throws {
    let participant = seats[Int.random(in: 0..<seats.count, using: &generator)]
    guard !participant.participant.session.isEnded else { return }
    func send(_ input: String, to store: String = "errands") throws {
      participant.sequence += 1
      try shard.send(input, participant.participant, to: store, sequence: participant.sequence)
    }
    lastItem += 1
    let item = lastItem
    switch Int.random(in: 0..<15, using: &generator) {
    case 0, 1:
      participant.sent.sum += item
      try send(#"{"type":"add","amount":\#(item)}"#)
    case 2:
      participant.sent.sum += 2 * item
      try send(#"{"type":"addEach","amounts":[\#(item),0,\#(item)]}"#)
    case 3, 4:
      participant.sent.writes.append(item)
      try send(#"{"type":"write","item":\#(item)}"#)
    case 5:
      participant.sent.laters.append(item)
      let seconds = Int.random(in: 0..<20, using: &generator)
      try send(#"{"type":"later","item":\#(item),"seconds":\#(seconds)}"#)
    case 6:
      participant.sent.risks.append(item)
      try send(#"{"type":"risk","item":\#(item)}"#)
    case 7: try send(#"{"type":"idle","item":\#(item)}"#)
    case 8: if Int.random(in: 0..<3, using: &generator) == 0 { try send(#"{"type":"hide"}"#) }
    case 9:
      let id = Int.random(in: 0..<8, using: &generator)
      let inputs = [
        #"{"type":"put","id":"\#(id)","title":"Title \#(item)"}"#,
        #"{"type":"drop","id":"\#(id)"}"#,
        #"{"type":"moveFirst","id":"\#(id)"}"#,
      ]
      if !isClosed("shelf", participant) {
        try send(inputs[Int.random(in: 0..<3, using: &generator)], to: "shelf")
      }
    case 10: try toggle("shelf", "shelf", participant, shard)
    case 11:
      try toggle("more", "errands", participant, shard)
      if !isClosed("more", participant) {
        try send(#"{"type":"idle","item":\#(item)}"#, to: "more")
      }
    case 12: try send(#"{"type":"add","amount":\#(item)}"#, to: "counter")
    case 13: await shard.pass(seconds: Int.random(in: 0..<4, using: &generator))
    default:
      guard participant.name != "cid" || Int.random(in: 0..<4, using: &generator) > 0 else {
        return shard.turn {
          participant.participant.session.close(by: participant.participant, isolation: shard)
        }
      }
      shard.turn {
        participant.participant.session.leave(participant.participant, isolation: shard)
      }
      (participant.participant, _, _) = try shard.resume(
        participant.handle, named: participant.name, telling: participant.listener)
    }
  }

  private func isClosed(_ store: String, _ participant: StoreParameters) -> Bool {
    participant.participant.session.storeEntries[store]?.isClosed ?? false
  }

  /// Closes a store if it is open, otherwise opens it.
  private func toggle(
    _ store: String, _ kind: String, _ participant: StoreParameters, _ shard: isolated Shard
  ) throws {
    let session = participant.participant.session
    try shard.turn {
      if session.storeEntries[store]?.isClosed == false {
        try session.close(store, isolation: shard)
      } else {
        _ = try session.open(store, kind: kind, configuration: [:], isolation: shard)
      }
    }
  }
}

extension Play.StoreParameters {
  fileprivate func seen() -> Moment.StoreParameters {
    var stores: [String: Moment.Store] = [:]
    for storeEntry in participant.session.storeEntries.values {
      stores[storeEntry.name] = storeEntry.seen
    }
    return Moment.StoreParameters(
      handle: handle, isOver: participant.session.isEnded, sequence: sequence, stores: stores,
      sent: sent)
  }
}

extension StoreEntry {
  var seen: Moment.Store {
    var frames: [String] = []
    if let history {
      history.forEach(from: history.start) { frames.append(String(decoding: $0, as: UTF8.self)) }
    }
    return Moment.Store(
      revision: store.revision, opened: opened, redacted: redacted, state: text,
      isClosed: isClosed, isDurable: isDurable, frames: frames)
  }

  private var text: String {
    var writer = JSONWriter()
    if !isClosed { store.writeState(to: &writer) }
    return writer.string()
  }
}
