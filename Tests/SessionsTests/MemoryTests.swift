// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import Testing

@testable import Sessions

/// The limits of the bytes that sessions hold, and the counting of these bytes.
@Suite("The bytes that sessions hold")
struct MemoryTests {
  /// Keeps the text of its last input.
  private struct Note: StateMachine {
    struct Configuration: Decodable, Sendable {
      let text: String?
    }
    enum Input: Codable, Sendable {
      case write(text: String)
    }

    let initialState = ""

    func effect(of input: Input, in state: String) -> Effect<String> {
      switch input {
      case .write(let text): .action(text)
      }
    }

    func reduce(_ state: inout String, _ action: String) { state = action }
  }

  private static let kinds = [
    StoreKind("note", configuration: Note.Configuration.self) { _ in Note() }
  ]

  private static func limits(_ change: (inout SessionLimits) -> Void) -> SessionLimits {
    var limits = SessionLimits()
    change(&limits)
    return limits
  }

  private static func text(_ bytes: Int) -> JSONValue {
    .object(["text": .string(String(repeating: "x", count: bytes))])
  }

  private static func write(_ bytes: Int) -> String {
    #"{"type":"write","text":"\#(String(repeating: "x", count: bytes))"}"#
  }

  private static func limit(_ body: () throws -> Void) -> SessionError.Limit? {
    do {
      try body()
    } catch SessionError.limit(let limit) {
      return limit
    } catch {
      Issue.record(error)
    }
    return nil
  }

  @Test("an account counts within its parent, until it is freed")
  func accounts() {
    let all = ByteAccount(maximum: 10)
    var part: ByteAccount? = ByteAccount(maximum: 4, within: all)
    part?.add(4)
    #expect(all.bytes == 4 && part?.isExceeded() == false && !all.isExceeded(adding: 6))
    #expect(part?.isExceeded(adding: 1) == true)
    part?.add(-1)
    #expect(all.bytes == 3)
    part = nil
    #expect(all.bytes == 0)
  }

  @Test("the account of a session counts for its identity, once it is known, until it is freed")
  func sessionAccounts() {
    let accounts = IdentityAccounts(MemoryPools(maximum: 100_000, maximumPerIdentity: 50_000))
    let identity = accounts.account(of: "ann")
    var session: SessionAccount? = SessionAccount(maximum: 40_000, within: accounts)
    session?.add(40_000)
    #expect(accounts.all.bytes == 40_000 && identity.bytes == 0)
    session?.belong(to: identity)
    session?.belong(to: identity)
    #expect(accounts.all.bytes == 40_000 && identity.bytes == 40_000)
    #expect(session?.identityBytes == 40_000 && session?.limit(adding: 0) == nil)
    #expect(session?.limit(adding: 1) == .bytesPerSession)
    session?.add(-10_000)
    identity.add(15_000)
    #expect(session?.limit(adding: 6000) == .bytesPerIdentity)
    session = nil
    #expect(accounts.all.bytes == 15_000 && identity.bytes == 15_000)
  }

  @Test("configurations and inputs over the session's limit are refused until a store is closed")
  func session() async throws {
    let limits = Self.limits { $0.bytesPerSession = 10_000 }
    try await Shard.make(Self.kinds, limits: limits).run { shard in
      let listener = Listener()
      let session = Session(isolation: shard)
      func open(_ name: String, _ bytes: Int, _ shard: isolated Shard) -> SessionError.Limit? {
        Self.limit {
          _ = try session.open(
            name, kind: "note", configuration: Self.text(bytes), isolation: shard)
        }
      }
      #expect(open("a", 5000, shard) == .bytesPerSession)
      #expect(open("a", 3000, shard) == nil)
      #expect(open("b", 3000, shard) == .bytesPerSession)
      let subscription = try session.attach(listener.id(on: shard), to: "a", isolation: shard)
      #expect(Self.limit { try subscription.send(Self.write(4000)) } == .bytesPerSession)
      #expect(subscription.revision == 0)
      #expect(Self.limit { try shard.turn { _ = try subscription.send(Self.write(3000)) } } == nil)
      #expect(shard.accounts.all.bytes > 12_000)
      // The session is over its limit, so it accepts no input until it holds less.
      #expect(Self.limit { try subscription.send(Self.write(0)) } == .bytesPerSession)
      #expect(
        Self.limit { _ = try session.attach(listener.id(on: shard), to: "note", isolation: shard) }
          != nil)
      try session.close("a", isolation: shard)
      #expect(shard.accounts.all.bytes == 0)
      #expect(open("b", 3000, shard) == nil)
      session.end(isolation: shard)
      #expect(shard.accounts.all.bytes == 0)
    }
  }

  @Test("one identity gets at most half of the bytes, and an identity with few bytes is served")
  func identities() async throws {
    let limits = Self.limits { $0.bytes = 100_000 }
    try await Shard.make(Self.kinds, limits: limits).run { shard in
      let listener = Listener()
      func open(
        _ identity: String?, _ bytes: Int, _ shard: isolated Shard
      ) throws -> SessionError.Limit? {
        let participant = listener.join(on: shard)
        _ = try participant.session.open(
          for: participant, named: nil, identity: identity, isolation: shard)
        return Self.limit {
          _ = try participant.session.open(
            "a", kind: "note", configuration: Self.text(bytes), isolation: shard)
        }
      }
      let anns = try [20_000, 20_000, 5000].map { try open("ann", $0, shard) }
      #expect(anns == [nil, .bytesPerIdentity, nil])
      let bobs = try open("bob", 20_000, shard)
      let carols = try [20_000, 5000].map { try open("carol", $0, shard) }
      let anonymous = try open(nil, 20_000, shard)
      #expect(bobs == nil && carols == [.bytes, nil] && anonymous == .bytes)
    }
  }

  @Test("a session counts for its identity from the time when it has one")
  func promoted() async throws {
    try await Shard.make(Self.kinds).run { shard in
      let listener = Listener()
      let participant = listener.join(on: shard)
      _ = try participant.session.open(
        "a", kind: "note", configuration: Self.text(1000), isolation: shard)
      #expect(shard.accounts.account(of: "ann").bytes == 0)
      _ = try participant.session.open(
        for: participant, named: nil, identity: "ann", isolation: shard)
      #expect(shard.accounts.account(of: "ann").bytes > 2000)
      #expect(shard.accounts.all.bytes == shard.accounts.account(of: "ann").bytes)
    }
  }

  @Test("equal configurations of open stores are one object")
  func configurations() throws {
    var known = SharedConfigurations()
    var reads = 0
    func take(_ kind: String, _ text: String) throws -> SharedConfiguration {
      try known.configuration(of: kind, Array(text.utf8)) {
        reads += 1
        return text
      }
    }
    var one: SharedConfiguration? = try take("note", "{}")
    #expect(try take("note", "{}") === one)
    #expect(try take("other", "{}") !== one)
    #expect(reads == 2)
    one = nil
    _ = try take("note", "{}")
    #expect(reads == 3)
    for number in 0..<1000 { _ = try take("note", "\(number)") }
    #expect(known.count < 200)
  }
}
