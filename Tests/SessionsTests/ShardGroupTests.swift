// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite("Shards of a server")
struct ShardGroupTests {
  @Test("each session has one shard, whatever the number of shards")
  func places() {
    var generator = SystemRandomNumberGenerator()
    for count in 1...8 {
      for _ in 1...50 {
        let handle = SessionHandle(using: &generator)
        let owners = (0..<count).filter { ShardPlace(index: $0, count: count).owns(handle) }
        #expect(owners == [handle.shard(of: count)])
        // The text of a handle has the same shard.
        #expect(SessionHandle(handle.description)?.shard(of: count) == owners[0])
      }
    }
  }

  @Test("the start of a shard has its sessions, and the first one also what concerns all")
  func start() {
    var generator = SystemRandomNumberGenerator()
    var start = JournalStart()
    for _ in 1...20 {
      start.owners.append(SessionHandle(using: &generator))
      start.setAside.append(JournalContents.Session(handle: SessionHandle(using: &generator)))
    }
    start.damage = ["damage"]
    start.keptBytes = 7
    let parts = (0..<3).map { start.part(of: ShardPlace(index: $0, count: 3)) }
    #expect(parts.flatMap(\.owners).count == 20 && parts.flatMap(\.setAside).count == 20)
    #expect(parts.map(\.damage) == [["damage"], [], []])
    #expect(parts.map(\.keptBytes) == [7, 0, 0])
    #expect(start.part(of: .alone).owners.count == 20)
  }

  @Test("accounts of several shards take parts of one pool, and return what they do not use")
  func memory() {
    let pools = MemoryPools(maximum: 3200, shards: 2)
    let accounts = [IdentityAccounts(pools), IdentityAccounts(pools)]
    accounts[0].all.add(1000)
    #expect(!accounts[0].all.isFull(adding: 100))
    accounts[1].all.add(1500)
    #expect(!accounts[1].all.isFull(adding: 100))
    #expect(accounts[0].all.isFull(adding: 1000) && accounts[1].all.isFull(adding: 1000))
    // Bytes that were added without a check count after the next call of `rebalance`.
    accounts[0].all.add(600)
    for accounts in accounts { accounts.rebalance() }
    #expect(accounts[1].all.isFull(adding: 200))
    accounts[0].all.add(-1600)
    accounts[0].rebalance()
    #expect(!accounts[1].all.isFull(adding: 1500))
    // An identity has half of all.
    let ann = accounts.map { $0.account(of: "ann") }
    ann[0].add(-0)
    accounts[1].all.add(-1500)
    accounts[1].rebalance()
    ann[0].add(1000)
    #expect(!ann[0].isFull(adding: 100) && ann[1].isFull(adding: 700))
  }

  @Test("a lone shard has its maximum immediately")
  func lone() {
    let accounts = IdentityAccounts(MemoryPools(maximum: 100))
    #expect(accounts.all.maximum == 100 && accounts.account(of: "ann").maximum == 50)
  }

  @Test("the census admits sessions up to the limits")
  func census() {
    let census = SessionCensus()
    var limits = SessionLimits()
    (limits.sessions, limits.sessionsPerIdentity) = (3, 2)
    #expect(census.admit("ann", limits) == nil && census.admit("ann", limits) == nil)
    #expect(census.admit("ann", limits) == .sessionsPerIdentity)
    #expect(census.admit(nil, limits) == nil && census.admit("bob", limits) == .sessions)
    census.remove("ann")
    #expect(census.count == 2 && census.count(of: "ann") == 1)
    #expect(census.admit("ann", limits) == nil)
  }

  @Test("turns of two shards share a transaction, and each shard gets its own results")
  func commits() {
    let journal = MemoryJournal()
    let jobs = Lock([@Sendable () -> Void]())
    guard let writer = JournalWriter(journal, commit: { job in jobs.withLock { $0.append(job) } })
    else { return }
    let ends = Lock([[String]](repeating: [], count: 2))
    let shards = (0..<2).map { index in
      let shard = ShardJournal(
        writer, of: ShardPlace(index: index, count: 2), notify: { $0() })
      shard.whenEnded { result in
        ends.withLock {
          $0[index].append("\(result.last.rawValue)\(result.hasFailures ? " failed" : "")")
        }
      }
      return shard
    }
    var generator = SystemRandomNumberGenerator()
    let handles = (0..<2).map { index in
      var handle = SessionHandle(using: &generator)
      while handle.shard(of: 2) != index { handle = SessionHandle(using: &generator) }
      return handle
    }
    func commit(_ index: Int, _ number: UInt64, _ event: JournalEntry.Event) {
      var entries = [JournalEntry(handles[index], event)]
      shards[index].commit(&entries, byteCount: 10, CommitNumber(rawValue: number))
    }
    func run() {
      for job in jobs.withLock({ jobs in
        defer { jobs = [] }
        return jobs
      }) { job() }
    }
    commit(0, 1, .opened(owner: nil))
    commit(1, 1, .opened(owner: nil))
    commit(0, 2, .expires(at: nil))
    run()
    #expect(journal.commits.map(\.count) == [3])
    #expect(ends.withLock { $0 } == [["2"], ["1"]])
    // A failure of one shard's session does not concern the other shard.
    journal.tooLarge = [handles[1]]
    commit(1, 2, .expires(at: nil))
    commit(0, 3, .expires(at: nil))
    run()
    #expect(ends.withLock { $0 } == [["2", "3"], ["1", "2 failed"]])
  }
}
