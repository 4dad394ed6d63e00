// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresConnections
import PostgresTestSupport
import TestSupport
import Testing

@Suite("Connections to PostgreSQL", .needsPostgres, .timeLimit(.minutes(15)))
struct PostgresConnectionTests {
  private static let echo = PostgresStatement(
    "echo",
    """
    SELECT $1::bigint, $2::text, $3::bytea, $4::uuid, $5::boolean, cardinality($6::bigint[]),
      ($7::bytea[])[2], ($8::uuid[])[1], ($9::boolean[])[1], ($6::bigint[])[2] IS NULL
    """)

  @Test("each type of parameter arrives and comes back, also empty and null ones")
  func types() async throws {
    let connection = try connect()
    let id = PostgresUUID(high: 1 << 63, low: 7)
    var transaction = PostgresTransaction()
    transaction.append(
      Self.echo, .integer(-5), .text("ü"), .bytes([0, 255]), .uuid(id), .boolean(true),
      .integers([1, nil, .min]), .byteArrays([[1], []]), .uuids([id]), .booleans([false]))
    transaction.append(
      Self.echo, .null, .text(""), .bytes([]), .null, .null, .integers([]), .byteArrays([]),
      .uuids([]), .booleans([]))
    let results = try connection.execute(transaction, within: .seconds(10))
    #expect(results[0].integer(0, 0) == -5 && results[0].text(0, 1) == "ü")
    #expect(results[0].bytes(0, 2) == [0, 255] && results[0].uuid(0, 3) == id)
    #expect(results[0].boolean(0, 4) == true && results[0].integer(0, 5) == 3)
    #expect(results[0].bytes(0, 6) == [] && results[0].uuid(0, 7) == id)
    #expect(results[0].boolean(0, 8) == false && results[0].boolean(0, 9) == true)
    #expect(results[1].integer(0, 0) == nil && results[1].text(0, 1) == "")
    #expect(results[1].bytes(0, 2) == [] && results[1].integer(0, 5) == 0)
  }

  @Test("`execute` does not end a transaction after the close itself: its caller may hold a lock")
  func lateTransaction() async throws {
    for hasEnded in [true, false] {
      let connection = try connect()
      if hasEnded { connection.closeAndWait() } else { connection.close() }
      let (ends, end) = AsyncStream.makeStream(of: (Bool, PostgresError.Outcome?).self)
      execute(by: connection) { isInside, result in
        var outcome: PostgresError.Outcome?
        if case .failure(let error) = result { outcome = error.outcome }
        end.yield((isInside, outcome))
        end.finish()
      }
      let results = await ends.reduce(into: []) { $0.append($1) }
      #expect(results.map(\.0) == [false])
      #expect(results.map(\.1) == [.notSent])
    }
  }

  /// - Parameter ended: Receives true within the call of `execute`.
  private func execute(
    by connection: PostgresConnection,
    ended: @escaping @Sendable (Bool, Result<[PostgresRows], PostgresError>) -> Void
  ) {
    let key = "executes"
    Thread.current.threadDictionary[key] = true
    connection.execute(PostgresTransaction(Self.echo)) {
      ended(Thread.current.threadDictionary[key] != nil, $0)
    }
    Thread.current.threadDictionary[key] = nil
  }

  @Test("transactions end in order, and a failed one leaves nothing and stops no other one")
  func pipeline() async throws {
    let connection = try connect()
    try connection.run("CREATE TABLE t (n bigint PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)")
    let insert = PostgresStatement("insert", "INSERT INTO t VALUES ($1)")
    let divide = PostgresStatement("divide", "SELECT 1 / $1::bigint")
    let ends = Record<String>()
    for number in 0..<200 {
      var transaction = PostgresTransaction(insert, .integer(Int64(number)))
      // Half of the failures come with the commit.
      if number % 20 == 7 { transaction.append(divide, .integer(0)) }
      if number % 20 == 17 { transaction.append(insert, .integer(Int64(number))) }
      connection.execute(transaction) { result in
        switch result {
        case .success: ends.add("\(number)")
        case .failure(let error): ends.add("\(number) \(error.outcome) \(error.sqlState ?? "")")
        }
      }
    }
    try await ends.reaches(200)
    let expected = (0..<200).map { number in
      switch number % 20 {
      case 7: "\(number) refused 22012"
      case 17: "\(number) refused 23505"
      default: "\(number)"
      }
    }
    #expect(ends.all == expected)
    #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 180)
  }

  @Test("a statement that cannot be prepared fails with its reason, and later works")
  func preparing() async throws {
    let connection = try connect()
    let select = PostgresStatement("select", "SELECT count(*) FROM later")
    do {
      _ = try connection.execute(PostgresTransaction(select), within: .seconds(10))
      Issue.record("a missing table was read")
    } catch {
      #expect(error.sqlState == "42P01" && !error.isTransient)
    }
    try connection.run("CREATE TABLE later ()")
    let rows = try connection.execute(PostgresTransaction(select), within: .seconds(10))
    #expect(rows[0].integer(0, 0) == 0)
  }

  @Test("a message does not quote data or a password")
  func secrets() async throws {
    let connection = try connect()
    do {
      _ = try connection.run("SELECT 'hidden'::bigint")
    } catch let error as PostgresError {
      #expect(error.sqlState == "22P02" && !error.description.contains("hidden"))
    }
    let server = try PostgresServer.common()
    let wrong = server.url.replacingOccurrences(of: "secret", with: "hidden")
    let failures = Record<String>()
    let refused = PostgresConnection(try PostgresAddress(wrong), application: "tests") { change in
      if case .failed(let error) = change { failures.add(error.description) }
    }
    try await failures.reaches(1)
    #expect(failures.all[0].contains("password authentication failed"))
    #expect(!failures.all[0].contains("hidden"))
    withExtendedLifetime(refused) {}
    let address = try PostgresAddress(wrong)
    var dumped = ""
    dump(address, to: &dumped)
    #expect(address.hasPassword && !"\(address)\(dumped)".contains("hidden"))
    #expect(throws: PostgresError.self) { try PostgresAddress("nonsense hidden") }
  }

  @Test("an address comes from an option, the environment, or a file that only its owner can read")
  func address() async throws {
    #expect(try PostgresAddress.configured(option: nil, environment: nil) == nil)
    let both = try PostgresAddress.configured(
      option: "postgres://one/a", environment: "postgres://two/b")
    #expect(both?.description == "dbname=a host=one" || both?.description == "host=one dbname=a")
    let folder = try TestFolder()
    let path = folder.file("address")
    try Data("postgres://me:secret@three/c\nmore\n".utf8).write(to: URL(filePath: path))
    chmod(path, 0o644)
    #expect(throws: PostgresError.self) { try PostgresAddress(file: path) }
    chmod(path, 0o600)
    let read = try PostgresAddress.configured(option: nil, environment: "file:\(path)")
    #expect(read?.description.contains("three") == true && read?.hasPassword == true)
  }

  @Test("after a kill of the server, unsent transactions wait and the others are unknown")
  func killed() async throws {
    let server = try PostgresServer()
    let changes = Record<String>()
    let connection = PostgresConnection(try PostgresAddress(server.url), application: "tests") {
      switch $0 {
      case .connected: changes.add("connected")
      case .failed: changes.add("failed")
      case .notified: changes.add("notified")
      }
    }
    let sleep = PostgresStatement("sleep", "SELECT pg_sleep(100)")
    let ends = Record<String>()
    @Sendable func note(_ result: Result<[PostgresRows], PostgresError>) {
      switch result {
      case .success: ends.add("done")
      case .failure(let error): ends.add("\(error.outcome)")
      }
    }
    try connection.run("SELECT 1")
    connection.execute(PostgresTransaction(sleep), ended: note)
    try await changes.reaches(1)
    try server.kill()
    try await ends.reaches(1)
    let one = PostgresStatement("one", "SELECT 1")
    connection.execute(PostgresTransaction(one), by: .now, ended: note)
    try await ends.reaches(2)
    connection.execute(PostgresTransaction(one), ended: note)
    try server.start()
    try await ends.reaches(3)
    #expect(ends.all == ["unknown", "notSent", "done"])
    #expect(changes.all.first == "connected" && changes.all.last == "connected")
    // Not one for each attempt.
    #expect(changes.all.count <= 5)
    connection.close()
    connection.execute(PostgresTransaction(one), ended: note)
    try await ends.reaches(4)
    #expect(ends.all.last == "notSent")
  }

  private func connect() throws -> PostgresConnection {
    let database = try PostgresServer.common().makeDatabase()
    return PostgresConnection(try PostgresAddress(database), application: "tests")
  }
}
