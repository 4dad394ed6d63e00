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

  struct ClientState: Sendable {
    let handle: SessionHandle
    let isEnded: Bool
    let sequence: Int
    let stores: [String: Store]
    /// The inputs that the `errands` store has accepted.
    let sent: Sent
  }

  /// Accepted inputs.
  struct Sent: Sendable {
    var sum = 0
    var writes: [Int] = []
    var delayed: [Int] = []
    var risks: [Int] = []
  }

  let commits: Int
  let bank: Bank
  let clients: [ClientState]
}

/// Clients that perform random steps.
final class RandomScript {
  fileprivate final class RandomClient {
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
  private var clients: [RandomClient] = []
  private var generator: FixedNumbers
  private var lastItem = 0
  private let bank: Bank

  init(
    seed: UInt64, _ journal: MemoryJournal, _ bank: Bank, isolation shard: isolated Shard
  ) throws {
    generator = FixedNumbers(seed: seed)
    self.bank = bank
    for name in ["ann", "bob", "cid"] { clients.append(try RandomClient(name, shard)) }
    journal.whenCommitted = { [unowned self] in
      let clients = clients.map { $0.snapshot() }
      moments.append(Moment(commits: journal.commits.count, bank: bank.copy(), clients: clients))
    }
  }

  /// Performs one random step of one client.
  func step(_ shard: isolated Shard) async throws {
    let client = clients[Int.random(in: 0..<clients.count, using: &generator)]
    guard !client.participant.session.isEnded else { return }
    func send(_ input: String, to store: String = "errands") throws {
      client.sequence += 1
      try shard.send(input, client.participant, to: store, sequence: client.sequence)
    }
    lastItem += 1
    let item = lastItem
    switch Int.random(in: 0..<15, using: &generator) {
    case 0, 1:
      client.sent.sum += item
      try send(#"{"type":"add","amount":\#(item)}"#)
    case 2:
      client.sent.sum += 2 * item
      try send(#"{"type":"addEach","amounts":[\#(item),0,\#(item)]}"#)
    case 3, 4:
      client.sent.writes.append(item)
      try send(#"{"type":"write","item":\#(item)}"#)
    case 5:
      client.sent.delayed.append(item)
      let seconds = Int.random(in: 0..<20, using: &generator)
      try send(#"{"type":"later","item":\#(item),"seconds":\#(seconds)}"#)
    case 6:
      client.sent.risks.append(item)
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
      if !isClosed("shelf", client) {
        try send(inputs[Int.random(in: 0..<3, using: &generator)], to: "shelf")
      }
    case 10: try toggle("shelf", "shelf", client, shard)
    case 11:
      try toggle("more", "errands", client, shard)
      if !isClosed("more", client) {
        try send(#"{"type":"idle","item":\#(item)}"#, to: "more")
      }
    case 12: try send(#"{"type":"add","amount":\#(item)}"#, to: "counter")
    case 13: await shard.pass(seconds: Int.random(in: 0..<4, using: &generator))
    default:
      guard client.name != "cid" || Int.random(in: 0..<4, using: &generator) > 0 else {
        return shard.turn {
          client.participant.session.close(by: client.participant, isolation: shard)
        }
      }
      shard.turn {
        client.participant.session.leave(client.participant, isolation: shard)
      }
      (client.participant, _, _) = try shard.resume(
        client.handle, named: client.name, notifying: client.listener)
    }
  }

  private func isClosed(_ store: String, _ client: RandomClient) -> Bool {
    client.participant.session.storeEntries[store]?.isClosed ?? false
  }

  /// Closes a store if it is open, otherwise opens it.
  private func toggle(
    _ store: String, _ kind: String, _ client: RandomClient, _ shard: isolated Shard
  ) throws {
    let session = client.participant.session
    try shard.turn {
      if session.storeEntries[store]?.isClosed == false {
        try session.close(store, isolation: shard)
      } else {
        _ = try session.open(store, kind: kind, configuration: [:], isolation: shard)
      }
    }
  }
}

extension RandomScript.RandomClient {
  fileprivate func snapshot() -> Moment.ClientState {
    var stores: [String: Moment.Store] = [:]
    for storeEntry in participant.session.storeEntries {
      stores[storeEntry.name] = storeEntry.snapshot
    }
    return Moment.ClientState(
      handle: handle, isEnded: participant.session.isEnded, sequence: sequence, stores: stores,
      sent: sent)
  }
}

extension StoreEntry {
  var snapshot: Moment.Store {
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
