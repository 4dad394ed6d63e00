// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import TestSupport
import Testing

@testable import RemoteSources

@Suite("HTTP balance service", .timeLimit(.minutes(20)))
struct HTTPBalanceServiceTests {
  /// A client whose timeouts a busy machine does not reach, for tests of other behaviour.
  private static var patient: RemoteClient {
    RemoteClient(connectTimeout: .seconds(300), idleTimeout: .seconds(300))
  }

  private func result(
    timeout: Duration = .seconds(300), client: RemoteClient = Self.patient,
    _ script: @escaping @Sendable (inout Visitor) async throws -> Void
  ) async throws -> BalanceResult {
    try await withClient(client) { client in
      try await TestServer.serving(script) { server in
        await HTTPBalanceService(try server.address("/balance"), client: client, timeout: timeout)
          .fetchBalance()
      }
    }
  }

  private func result(to body: String, type: String = "application/json") async throws
    -> BalanceResult
  {
    try await result { visitor in
      try await visitor.respond("200 OK\r\nContent-Type: \(type)", text: body)
    }
  }

  private let date = #""date": "2021-06-02 11:01:48 +0000""#

  @Test(
    "the amount is taken exactly from its text",
    arguments: [
      ("1.23", "1.23"), (#""1.23""#, "1.23"), ("1234567.891", "1234567.891"), ("0.1", "0.1"),
      ("1000000000000000.01", "1000000000000000.01"), ("1e3", "1000"), ("-1.50", "-1.5"),
      ("0", "0"), ("-0", "0"), ("9007199254740993", "9007199254740993"),
      ("0.30000000000000000000000000000001", "0.30000000000000000000000000000001"),
      (#""1e-2""#, "0.01"), (#""\u0031""#, "1"),
    ])
  func amount(text: String, amount: String) async throws {
    let result = try await result(to: #"{"balance": \#(text), \#(date)}"#)
    guard case .response(let response) = result else {
      Issue.record("the service gave no response")
      return
    }
    #expect(response.balance.description == amount)
  }

  @Test(
    "the date is read with its time zone",
    arguments: [
      ("2021-06-02 11:01:48 +0000", "2021-06-02T11:01:48Z"),
      ("2021-06-02 11:01:48 Z", "2021-06-02T11:01:48Z"),
      ("2021-06-02 00:31:48 +0200", "2021-06-01T22:31:48Z"),
      ("2021-06-02 23:01:48 -0330", "2021-06-03T02:31:48Z"),
    ])
  func date(text: String, utc: String) async throws {
    let result = try await result(to: #"{"balance": 1, "date": "\#(text)"}"#)
    let date = try #require(Timestamp(iso8601: utc))
    #expect(
      result == .response(BalanceResponse(balance: try #require(DecimalNumber("1")), date: date)))
  }

  @Test(
    "content type, other members and order do not matter, and the last duplicate member counts",
    arguments: [
      (#"{"date": "2021-06-02 11:01:48 Z", "x": [1, {"balance": 9}], "balance": 5}"#, "text/plain"),
      (#"{"balance": "x", "date": 1, "balance": 5, "date": "2021-06-02 11:01:48 Z"}"#, "a/b"),
      ("\n {\"bal\\u0061nce\": 5, \"date\": \"2021-06-02 11:01:48 Z\"}\r\n", "text/html"),
    ])
  func lenient(body: String, type: String) async throws {
    guard case .response(let response) = try await result(to: body, type: type) else {
      Issue.record("the service gave no response")
      return
    }
    #expect(response.balance.description == "5")
  }

  @Test(
    "a response that is not a balance is a failure",
    arguments: [
      "", "{}", "[]", "null", "5", "<html>", "{", #"{"balance": 1}"#,
      #"{"date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": null, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": true, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": {}, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": NaN, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": Infinity, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": 01, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": 1., "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": +1, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": 1e999, "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": "NaN", "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": "-Infinity", "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": "", "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": "1,0", "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": " 1", "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": "$1", "date": "2021-06-02 11:01:48 Z"}"#,
      #"{"balance": 1, "date": "2021-06-02T11:01:48Z"}"#,
      #"{"balance": 1, "date": "2021-02-30 11:01:48 Z"}"#,
      #"{"balance": 1, "date": "yesterday"}"#,
      #"{"balance": 1, "date": 1622631708}"#,
      #"{"balance": 1, "date": "2021-06-02 11:01:48 Z"} x"#,
      #"{"balance": 1, "date": "2021-06-02 11:01:48 Z",}"#,
      #"{"balance": 1, "balance": "x", "date": "2021-06-02 11:01:48 Z"}"#,
    ])
  func junk(body: String) async throws {
    #expect(try await result(to: body) == .failed)
  }

  @Test("a response that is not UTF-8 is a failure")
  func notUTF8() async throws {
    let result = try await result { visitor in
      let body =
        [UInt8](#"{"balance": 1, "date": "2021-06-02 11:01:48 Z", "x": ""#.utf8)
        + [0xE9] + [UInt8](#""}"#.utf8)
      try await visitor.respond("200 OK\r\nContent-Length: \(body.count)", body)
    }
    #expect(result == .failed)
  }

  @Test(
    "any status but 200 is a failure", arguments: ["201 Created", "204 No", "404 No", "500 Oh"])
  func status(status: String) async throws {
    let body = #"{"balance": 1, \#(date)}"#
    #expect(try await result { try await $0.respond(status, text: body) } == .failed)
  }

  @Test("a response has at most 64 KiB", arguments: [(64 << 10, true), (64 << 10 + 1, false)])
  func limit(count: Int, isTaken: Bool) async throws {
    let body = #"{"balance": 1, \#(date)}"#
    let padded = body + String(repeating: " ", count: count - body.utf8.count)
    let result = try await result { visitor in
      // No Content-Length, so that the received bytes are counted.
      try await visitor.respond("200 OK", [UInt8](padded.utf8))
    }
    #expect((result != .failed) == isTaken)
  }

  @Test("an endless response is aborted")
  func endless() async throws {
    let result = try await result { visitor in
      try await visitor.respond("200 OK")
      await visitor.flood(#"{"balance": 1, "x": ""# + String(repeating: "x", count: 10_000))
    }
    #expect(result == .failed)
  }

  @Test("a response that exceeds the timeout is a failure, and the connection is closed")
  func timeout() async throws {
    let result = try await result(timeout: .milliseconds(50)) { visitor in
      _ = await visitor.request()
      await visitor.untilGone()
    }
    #expect(result == .failed)
  }

  @Test("a refused connection or an incomplete response is a failure")
  func gone() async throws {
    try await withClient { client in
      let address = try await TestServer.deserted().address()
      #expect(await HTTPBalanceService(address, client: client).fetchBalance() == .failed)
    }
    let result = try await result { visitor in
      try await visitor.respond("200 OK\r\nContent-Length: 100", [0x7B])
    }
    #expect(result == .failed)
  }

  @Test("the service gives its result to a store once")
  func store() async throws {
    let body = #"{"balance": 1.5, \#(date)}"#
    let results = try await withClient { client in
      try await TestServer.serving { visitor in
        try await visitor.respond("200 OK", text: body)
      } while: { server in
        let host = try await BalanceProbe.Host(
          HTTPBalanceService(try server.address(), client: client))
        try await host.ask()
        await host.settled()
        return host.results.all
      }
    }
    let balance = try #require(DecimalNumber("1.5"))
    let date = try #require(Timestamp(iso8601: "2021-06-02T11:01:48Z"))
    #expect(results == [.response(BalanceResponse(balance: balance, date: date))])
  }

  @Test("cancellation by the store closes the connection, and no result follows")
  func cancelled() async throws {
    let asked = Signal()
    let results = try await withClient { client in
      try await TestServer.serving { visitor in
        _ = await visitor.request()
        asked.fire()
        // Returns only because the client closes the connection.
        await visitor.untilGone()
      } while: { server in
        let host = try await BalanceProbe.Host(
          HTTPBalanceService(try server.address(), client: client))
        try await host.ask()
        await asked.wait()
        try await host.cancel()
        await host.settled()
        return host.results
      }
    }
    // The script has ended, and with it the request.
    #expect(results.all == [])
  }
}
