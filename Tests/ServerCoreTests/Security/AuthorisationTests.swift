// SPDX-License-Identifier: Apache-2.0

import StatewireProtocol
import Testing

@testable import ServerCore

@Suite("Tokens of connections", .timeLimit(.minutes(15)))
struct AuthorisationTests {
  static let alice = "alice-0123456789"
  static let bob = "bob-0123456789abc"
  let credentials: Credentials

  init() throws {
    credentials = Credentials(
      try TokenTable(parsing: "alice \(Self.alice)\nbob \(Self.bob)\n".utf8))
  }

  static func introduction(_ id: String, _ token: String) -> String {
    request(id, "initialize", "{\"token\":\"\(token)\"}")
  }

  static func welcome(_ id: String) -> String { response(id, InitializeTests.result) }

  @Test(
    "without a valid token, the server serves only initialize and ping", arguments: Framing.allCases
  )
  func gate(_ framing: Framing) async throws {
    let client = TestClient(framing, credentials)
    client.send(
      set("1", 1), request("2", "store/open", "{}"), request("3", "ping"),
      request("4", "no/such"), notification("store/send"), request("5", "initialize"),
      "[\(set("6", 1)),\(request("7", "ping"))]")
    try await client.expect(
      failure("1", -32016), failure("2", -32016), response("3"), failure("4", -32016),
      failure("5", -32016), "[\(failure("6", -32016)),\(response("7"))]")
    #expect(!client.isAuthorised)
    client.send(Self.introduction("8", Self.alice), set("9", 1))
    try await client.expect(Self.welcome("8"), sent("9", revision: 1))
    #expect(client.identity == Identity("alice"))
    #expect(client.admitted == [Identity("alice")])
  }

  @Test("the third wrong token closes the connection, and later tokens are not checked")
  func wrongTokens() async throws {
    let world = World()
    let other = TestClient(world, credentials: credentials)
    other.send(Self.introduction("1", Self.bob))
    try await other.expect(Self.welcome("1"))

    let client = TestClient(world, credentials: credentials)
    client.send(Self.introduction("1", "x"), Self.introduction("2", Self.alice + "x"))
    try await client.expect(failure("1", -32016), failure("2", -32016))
    #expect(!client.isClosed)
    // In one chunk, so that later messages are available before the connection is closed.
    client.send(
      Self.introduction("3", ""), Self.introduction("4", Self.alice), set("5", 1))
    try await client.expect(failure("3", -32016), failure("4", -32016), failure("5", -32016))
    #expect(client.isClosed)
    #expect(!client.isAbandoned)

    other.send(set("2", 5))
    try await other.expect(sent("2", revision: 1))
    #expect(!other.isClosed)
  }

  @Test(
    "any number of wrong tokens in one chunk or one batch is refused", arguments: [false, true])
  func manyWrongTokens(inBatch: Bool) async throws {
    let world = World()
    let (client, other) = (
      TestClient(world, credentials: credentials), TestClient(world, credentials: credentials)
    )
    let messages = (1...600).map { Self.introduction("\($0)", "x") }
    if inBatch {
      client.send("[\(messages.joined(separator: ","))]")
      #expect(try await client.messages(1).first?.contains("\"id\":600,\"error\"") == true)
    } else {
      client.send(bytes: client.bytes(of: messages))
      try await client.expect(all: (1...600).map { failure("\($0)", -32016) })
    }
    #expect(client.isClosed)
    other.send(Self.introduction("1", Self.alice))
    try await other.expect(Self.welcome("1"))
  }

  @Test("a missing token does not count as a wrong token")
  func missingToken() async throws {
    let client = TestClient(credentials: credentials)
    for _ in 0..<5 {
      client.send(request("1", "initialize"))
      try await client.expect(failure("1", -32016))
    }
    client.send(Self.introduction("2", Self.alice), request("3", "initialize"))
    try await client.expect(Self.welcome("2"), Self.welcome("3"))
  }

  @Test("a connection never changes its identity")
  func oneIdentity() async throws {
    let client = TestClient(credentials: credentials)
    client.send(
      Self.introduction("1", Self.alice), Self.introduction("2", Self.bob),
      Self.introduction("3", Self.alice), set("4", 1))
    try await client.expect(
      Self.welcome("1"), failure("2", -32016), Self.welcome("3"), sent("4", revision: 1))
    #expect(client.identity == Identity("alice"))
    #expect(client.admitted.count == 1)
  }

  @Test("an identity at its limit of connections gets no further connection")
  func identityLimit() async throws {
    let client = TestClient(credentials: credentials)
    client.isIdentityFull = true
    client.send(Self.introduction("1", Self.alice))
    try await client.expect(failure("1", -32015, data: #"{"limit":"connectionsPerIdentity"}"#))
    #expect(client.isClosed)
    #expect(client.identity == nil)
  }

  @Test("replaced tokens apply immediately, and clients of removed names are notified and closed")
  func replacing() async throws {
    let (alice, bob) = (TestClient(credentials: credentials), TestClient(credentials: credentials))
    alice.send(Self.introduction("1", Self.alice))
    bob.send(Self.introduction("1", Self.bob))
    try await alice.expect(Self.welcome("1"))
    try await bob.expect(Self.welcome("1"))

    credentials.replace(with: try TokenTable(parsing: "alice another-token-0123".utf8))
    for client in [alice, bob] { client.tell(.credentialsChanged) }
    try await bob.expect(failure("null", -32016))
    #expect(bob.isClosed)
    alice.send(set("2", 1))
    try await alice.expect(sent("2", revision: 1))

    let late = TestClient(credentials: credentials)
    late.send(Self.introduction("1", Self.alice), Self.introduction("2", "another-token-0123"))
    try await late.expect(failure("1", -32016), Self.welcome("2"))
  }

  @Test("no error contains a token")
  func secrecy() async throws {
    let client = TestClient(credentials: credentials)
    let token = "zzzzyyyyxxxxwwww"
    client.send(
      Self.introduction("1", token), request("2", "initialize", "{\"token\":[\"\(token)\"]}"),
      request("3", "initialize", "{\"token\":{\"\(token)\":1}}"),
      request("4", "initialize", "\"\(token)\""),
      "{\"jsonrpc\":\"2.0\",\"method\":\"initialize\",\"params\":{\"token\":\"\(token)\"}")
    let messages = try await client.messages(5)
    #expect(messages.count == 5)
    for message in messages {
      #expect(message.contains("\"error\""))
      #expect(!message.contains("zzzz"), "\(message)")
    }
    #expect("\(Initialize.Token(token))" == "(token)")
    #expect(!String(reflecting: Initialize.Token(token)).contains("zz"))
  }

  @Test("if no token is required, a token is not an error")
  func noCredentials() async throws {
    let client = TestClient()
    client.send(Self.introduction("1", "x"), set("2", 1))
    try await client.expect(Self.welcome("1"), sent("2", revision: 1))
    #expect(client.isAuthorised && client.identity == nil)
  }
}

extension TestClient {
  convenience init(_ framing: Framing, _ credentials: Credentials) {
    self.init(World(), framing, credentials: credentials)
  }
}
