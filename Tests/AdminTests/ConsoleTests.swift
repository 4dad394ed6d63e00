// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import StateMachines
import StatewireJSON
import TestSupport
import Testing
import TransportTestSupport
import Transports

@testable import Admin

@Suite("Console", .timeLimit(.minutes(15)))
struct ConsoleTests {
  @Test("it lists sessions without their handles, their stores and their states without secrets")
  func sessions() async throws {
    try await withConsole { console in
      let driver = try await console.client()
      let handle = try await driver.opens("driver")
      try await driver.writes(note: "n", pin: "1234")
      let list = try console.get("sessions")
      let found = try #require(list["sessions"]?.array)
      #expect(found.count == 1)
      let session = found[0]
      #expect(session["handle"] == .string(String(handle.prefix(8))))
      #expect(session["participants"]?[0]?["name"] == "driver")
      #expect(session["participants"]?[0]?["role"] == "driver")
      #expect(!list.description.contains(handle))
      let id = try #require(session["id"]?.string)
      let whole = try console.get("session?session=\(id)")
      let store: JSONValue = [
        "name": "vault", "kind": "vault", "revision": 1, "closed": false, "shared": false,
        "subscriptions": 1,
        "history": [
          "name": "Updates for reconnecting clients", "value": 133, "limit": 65_536,
          "unit": "bytes",
        ],
      ]
      #expect(whole["stores"] == [store])
      #expect(whole["gauges"]?[1] == ["name": "Stores", "value": 1, "limit": 1_024, "unit": nil])
      #expect(whole["participants"]?[0]?["subscriptions"] == 1)
      #expect(whole["participants"]?[0]?["queuedBytes"] == 0)
      #expect(!whole.description.contains(handle))
      let state = try console.get("state?session=\(id)&store=vault")
      #expect(state["revision"] == 1)
      #expect(
        state["state"] == ["note": "n", "pin": "(redacted)", "inner": [["pin": "(redacted)"]]])

      try await driver.responds("store/close", #"{"store":"vault"}"#)
      #expect(try console.get("session?session=\(id)")["stores"]?[0]?["closed"] == true)
      #expect(try console.get("state?session=\(id)&store=vault")["error"] != nil)
      try await driver.responds("session/close", "{}")
      #expect(try console.get("session?session=\(id)")["error"] != nil)
      await driver.close()
    }
  }

  /// It said that the list was empty and complete.
  @Test("a page of the list has at least one session", arguments: ["0", "-1"])
  func smallPages(limit: String) async throws {
    try await withConsole { console in
      let clients = [try await console.client(), try await console.client()]
      for client in clients { _ = try await client.opens("driver") }
      let list = try console.get("sessions?limit=\(limit)")
      #expect(list["sessions"]?.array?.count == 1)
      #expect(list["next"]?.string != nil)
      for client in clients { await client.close() }
    }
  }

  @Test("it lists clients that have no handle, until they leave")
  func handleless() async throws {
    try await withConsole { console in
      let client = try await console.client()
      try await client.writes(note: "n", pin: "1")
      let session = try #require(try console.get("sessions")["sessions"]?[0])
      #expect(session["handle"] == .null)
      let id = try #require(session["id"]?.string)
      #expect(try console.get("state?session=\(id)&store=vault")["state"]?["note"] == "n")
      await client.close()
      try await eventually("the session ends") {
        try console.get("session?session=\(id)")["error"] != nil
      }
    }
  }

  @Test("the list has pages, over all shards, and a search")
  func pages() async throws {
    try await withConsole(shards: 2) { console in
      var clients: [ClientConnection] = []
      for number in 0..<7 {
        let client = try await console.client()
        _ = try await client.opens("frontend \(number)")
        clients.append(client)
      }
      var names: Set<String> = []
      var after = ""
      var pages = 0
      repeat {
        let page = try console.get("sessions?limit=3&after=\(after)")
        for session in try #require(page["sessions"]?.array) {
          names.insert(try #require(session["participants"]?[0]?["name"]?.string))
        }
        pages += 1
        after = page["next"]?.string ?? ""
      } while !after.isEmpty
      #expect(names == Set((0..<7).map { "frontend \($0)" }))
      #expect((3...4).contains(pages))
      let found = try console.get("sessions?search=END%205")
      #expect(found["sessions"]?.array?.count == 1)
      #expect(found["next"] == .null)
      let server = try console.get("server")
      #expect(server["shards"]?.array?.count == 2)
      #expect(server["gauges"]?[0]?["value"] == 7)
      for client in clients { await client.close() }
    }
  }

  @Test("a state above 1 MiB is not copied")
  func largeState() async throws {
    try await withConsole { console in
      let client = try await console.client()
      let note = String(repeating: "n", count: 600_000)
      try await client.writes(note: note, pin: "1")
      let id = try #require(try console.get("sessions")["sessions"]?[0]?["id"]?.string)
      let small = try console.get("state?session=\(id)&store=vault")
      #expect(small["state"]?["note"] == .string(note))
      try await client.writes(note: "n", pin: note)
      let large = try console.get("state?session=\(id)&store=vault")
      #expect(large["state"] == nil)
      #expect(try #require(large["bytes"]?.int) > 1 << 20)
      await client.close()
    }
  }

  @Test(
    "requests of other sites, and malformed ones, are refused",
    arguments: [
      ("GET /console/api/server", ["Host: example.org"], "403"),
      ("GET /console/api/server", ["Host: localhost", "Origin: https://example.org"], "403"),
      ("GET /console/api/server", ["Host: localhost", "Origin: null"], "403"),
      ("GET /console/api/server", ["Host: localhost", "Sec-Fetch-Site: cross-site"], "403"),
      ("GET /console/api/server", ["Host: localhost", "Origin: http://localhost"], "200"),
      ("GET /console/api/server", ["Host: localhost", "Sec-Fetch-Site: same-origin"], "200"),
      ("OPTIONS /console/api/server", ["Host: localhost"], "405"),
      ("POST /console/api/server", ["Host: localhost", "Content-Length: 0"], "403"),
      (
        "POST /console/api/server",
        ["Host: localhost", "Content-Type: text/plain", "Content-Length: 0"], "403"
      ),
      ("POST /console/api/server", ["Host: localhost", "Content-Type: application/json"], "400"),
      (
        "POST /console/api/server",
        ["Host: localhost", "Content-Type: application/json", "Content-Length: 999999999"], "400"
      ),
      (
        "POST /console/api/server",
        ["Host: localhost", "Content-Type: application/json", "Content-Length: 0"], "404"
      ),
      ("GET /console/api/session", ["Host: localhost"], "400"),
      ("GET /console/api/session?session=0-1", ["Host: localhost"], "404"),
      ("GET /console/api/session?session=9-1", ["Host: localhost"], "404"),
      ("GET /console/api/session?session=x", ["Host: localhost"], "404"),
      ("GET /console/api/none", ["Host: localhost"], "404"),
      ("GET /console", ["Host: localhost"], "301"),
      ("GET /console/", ["Host: localhost"], "200"),
      ("GET /console/none.js", ["Host: localhost"], "404"),
      ("GET /consoles", ["Host: localhost"], "404"),
    ])
  func refusals(request: String, fields: [String], status: String) async throws {
    try await withConsole { console in
      let head = ["\(request) HTTP/1.1"] + fields + ["", ""]
      let text = try console.send(head.joined(separator: "\r\n"))
      #expect(text.hasPrefix("HTTP/1.1 \(status) "))
      #expect(text.contains("frame-ancestors 'none'") || text.contains("default-src 'none'"))
    }
  }

  @Test("the page is served with a policy; without its files there is no console")
  func page() async throws {
    try await withConsole { console in
      let text = try console.send("GET /console/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(text.hasSuffix("\r\n\r\n<p>"))
      #expect(text.contains("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'"))
    }
    let admin = try await AdminInterface.start(host: "127.0.0.1", port: 0, ServerStatus())
    let console = ConsoleClient(admin: admin.address, server: admin.address)
    let text = try console.send("GET /console/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
    #expect(text.hasPrefix("HTTP/1.1 404"))
    await admin.stop()
  }

  @Test("the values of the members that the description calls secret are not shown")
  func secretsOfKinds() {
    let secrets = KindSecrets(["x-stores": ["vault": ["secrets": ["pin", "key", "word"]]]])
    #expect(secrets["vault"].names == ["pin", "key", "word"])
    #expect(secrets["other"].names.isEmpty)
    let patch: JSONValue = [
      ["op": "replace", "path": "/a/word", "value": "x"],
      ["op": "add", "path": "/word/first", "value": "x"], ["op": "remove", "path": "/word"],
      ["op": "add", "path": "/b", "value": ["key": ["x"], "note": "y"]],
    ]
    #expect(
      secrets["vault"].redacted(patch: patch) == [
        ["op": "replace", "path": "/a/word", "value": "(redacted)"],
        ["op": "add", "path": "/word/first", "value": "(redacted)"],
        ["op": "remove", "path": "/word"],
        ["op": "add", "path": "/b", "value": ["key": "(redacted)", "note": "y"]],
      ])
  }

  @Test("before the server serves, the console says so")
  func starting() async throws {
    let admin = try await AdminInterface.start(
      host: "127.0.0.1", port: 0, ServerStatus(), console: ["index.html": [1]])
    let console = ConsoleClient(admin: admin.address, server: admin.address)
    #expect(try console.get("server") == ["error": "the server is starting"])
    await admin.stop()
  }
}
