// SPDX-License-Identifier: Apache-2.0

import Testing

/// The forms that a message may have, and the responses to them.
@Suite("Messages", .timeLimit(.minutes(15)))
struct EnvelopeTests {
  @Test(
    "a response has the id exactly as the request had it",
    arguments: [
      "0", "1", "-1", "-0", "1e2", "1E+2", "1.0", "1.50", "9007199254740993",
      "123456789012345678901234567890", "\"\"", "\"1\"", "\"é\"", "\"\\u00e9\"", "\"a\\/b\\n\"",
      "\"\\ud800\"", "\"f81d4fae-7dec-11d0-a765-00a0c91e6bf6\"", "null",
      "\"" + String(repeating: "x", count: 1022) + "\"",
    ])
  func ids(_ id: String) async throws {
    for method in ["ping", "no/such/method"] {
      let client = TestClient()
      client.send(request(id, method))
      let messages = try await client.messages(1)
      #expect(messages.count == 1)
      #expect(messages[0].hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":\(id),"))
    }
  }

  @Test("late responses and updates have the id exactly as the request had it")
  func laterIDs() async throws {
    for id in ["1e2", "\"\\u00e9\"", "-0", "null"] {
      let client = TestClient()
      client.send(subscribe("0"), work(id, "w"))
      client.send(set(id, 5))
      client.world.orders.tell("w", .end)
      let messages = try await client.messages(4)
      #expect(messages[1].hasSuffix(",\"applied\":\(id)}}"))
      #expect(messages[2].hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":"))
      #expect(messages[3].hasPrefix("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":"))
    }
  }

  static let refused: [(String, String)] = [
    // The id cannot be recovered.
    ("{}", "null"),
    (#"{"jsonrpc":"2.0"}"#, "null"),
    (#"{"method":"ping"}"#, "null"),
    (#"{"jsonrpc":"2.0","method":"ping","id":{}}"#, "null"),
    (#"{"jsonrpc":"2.0","method":"ping","id":[1]}"#, "null"),
    (#"{"jsonrpc":"2.0","method":"ping","id":true}"#, "null"),
    (#"{"jsonrpc":"2.0","method":"ping","id":1,"id":{}}"#, "null"),
    (request("\"" + String(repeating: "x", count: 1023) + "\"", "ping"), "null"),
    (request(String(repeating: "1", count: 1025), "ping"), "null"),
    // Values that are not objects.
    ("1", "null"), ("-0.5e1", "null"), ("\"ping\"", "null"), ("true", "null"), ("null", "null"),
    // The id can be recovered.
    (#"{"method":"ping","id":1}"#, "1"),
    (#"{"jsonrpc":"1.0","method":"ping","id":2}"#, "2"),
    (#"{"jsonrpc":2.0,"method":"ping","id":3}"#, "3"),
    (#"{"jsonrpc":null,"method":"ping","id":"4"}"#, "\"4\""),
    (#"{"jsonrpc":"2.0","id":5}"#, "5"),
    (#"{"jsonrpc":"2.0","method":null,"id":6}"#, "6"),
    (#"{"jsonrpc":"2.0","method":["ping"],"id":7}"#, "7"),
    (#"{"jsonrpc":"2.0","method":"ping","id":8,"params":"x"}"#, "8"),
    (#"{"jsonrpc":"2.0","method":"ping","id":9,"params":0}"#, "9"),
    (#"{"jsonrpc":"2.0","method":"ping","id":10,"params":false}"#, "10"),
    // The last one of duplicate members counts.
    (#"{"jsonrpc":"2.0","jsonrpc":"1.0","method":"ping","id":11}"#, "11"),
    (#"{"jsonrpc":"2.0","method":"ping","method":1,"id":12}"#, "12"),
    (#"{"jsonrpc":"2.0","method":"ping","id":12,"id":13,"params":{},"params":1}"#, "13"),
  ]

  @Test(
    "the server refuses a message that is not a request, with its id if it has one",
    arguments: refused)
  func refuses(_ message: String, id: String) async throws {
    try await Script(
      // The first byte of a connection must begin an object or an array.
      message, .send("[]", message, request("\"next\"", "ping")),
      .expect(failure("null", -32600), failure(id, -32600), response("\"next\""))
    ).run()
    try await Script(
      "in a batch: " + message, .send("[\(message)]"), .expect("[\(failure(id, -32600))]")
    ).run()
  }

  static let served = [
    Script(
      "null parameters count as no parameters",
      .send(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#), .expect(response("1")),
      .send(#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[],"params":null}"#),
      .expect(response("1"))
    ),
    Script(
      "members may have any order, and unknown members are allowed",
      .send(#"{"x":[{"id":7}],"params":{"y":1},"method":"ping","id":1,"jsonrpc":"2.0","z":null}"#),
      .expect(response("1"))
    ),
    Script(
      "escaped member names and methods are unescaped before they are compared",
      .send(#"{"jsonrpc":"\u0032.0","\u0069d":1,"m\u0065thod":"\u0070ing"}"#),
      .expect(response("1"))
    ),
    Script(
      "white space is allowed where JSON allows it",
      .send("\t{ \"jsonrpc\" : \"2.0\" ,\r \"id\" : 1 , \"method\" : \"ping\" } \t"),
      .expect(response("1"))
    ),
    Script(
      "the last one of duplicate members counts",
      .send(
        #"{"jsonrpc":"1.0","jsonrpc":"2.0","id":{},"id":1,"method":0,"method":"ping","params":9,"params":{}}"#
      ),
      .expect(response("1")),
      .send(
        """
        {"jsonrpc":"2.0","id":2,"method":"store/send","params":{"store":1,"input":2,"settle":3,\
        "sequence":4,"store":"probe","input":{"type":"nothing"},"settle":false,"sequence":null}}
        """),
      .expect(sent("2", revision: 0, changed: false))
    ),
    Script(
      "null is an id, so the request gets a response",
      .send(request("null", "ping"), request("null", "nothing")),
      .expect(response("null"), failure("null", -32601))
    ),
    Script(
      "notifications get no response, also invalid ones",
      .send(
        notification("ping"), notification("nothing"), notification("store/send"),
        notification("store/send", #"{"store":"none","input":{}}"#),
        notification("store/send", #"{"store":"probe","input":{"type":"none"}}"#),
        notification("store/open", #"{"store":1}"#), notification("store/state", "[]"),
        notification("initialize", #"{"protocolVersion":"9"}"#), notification("$/cancelRequest"),
        request("1", "ping")),
      .expect(response("1"))
    ),
    Script(
      "notifications are executed",
      .send(
        subscribe("1"),
        notification("store/send", #"{"store":"probe","input":{"type":"set","number":4}}"#)),
      .expect(
        response("1", #"{"revision":0,"state":{"number":0,"text":""}}"#),
        changed(0, 1, number: 4, applied: "null"))
    ),
    Script(
      "responses from a client are ignored",
      .send(
        #"{"jsonrpc":"2.0","id":1,"result":{}}"#, #"{"id":1,"result":null}"#,
        #"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":""}}"#,
        #"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":{}}]"#,
        request("1", "ping")),
      .expect(response("1"))
    ),
    Script(
      "a method with a result is a request",
      .send(#"{"jsonrpc":"2.0","id":1,"result":{},"method":"ping"}"#), .expect(response("1"))
    ),
    Script(
      "method names are compared by their bytes",
      .send(request("1", "Ping"), request("2", "ping "), request("3", ""), request("4", "pin")),
      .expect(all: (1...4).map { failure("\($0)", -32601) })
    ),
    Script(
      "positional parameters are refused, also an empty array, after the method is checked",
      .send(
        request("1", "ping", "[]"), request("2", "store/send", "[1]"),
        request("3", "store/state", "[]"), request("4", "none", "[]")),
      .expect(
        refusal("1", path: ""), refusal("2", path: ""), refusal("3", path: ""),
        failure("4", -32601))
    ),
  ]

  @Test("the server serves every valid request", arguments: served)
  func serves(_ script: Script) async throws { try await script.run() }

  @Test("responses are compact, and their members have a fixed order")
  func form() async throws {
    let client = TestClient()
    client.send(
      request("1", "ping"), request("2", "none"), request("3", "store/close", #"{"store":"x"}"#),
      subscribe("4"), set("5", 1), request("6", "store/close", #"{"store":"probe"}"#))
    let messages = try await client.messages(8)
    #expect(
      messages == [
        #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        #"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"there is no such method"}}"#,
        #"{"jsonrpc":"2.0","id":3,"error":{"code":-32010,"message":"no store is named \"x\""}}"#,
        #"{"jsonrpc":"2.0","id":4,"result":{"revision":0,"state":{"number":0,"text":""}}}"#,
        #"{"jsonrpc":"2.0","method":"store/changed","params":{"store":"probe","base":0,"revision":1,"#
          + #""patch":[{"op":"replace","path":"/number","value":1}],"applied":5}}"#,
        #"{"jsonrpc":"2.0","id":5,"result":{"revision":1,"changed":true}}"#,
        #"{"jsonrpc":"2.0","method":"store/closed","params":{"store":"probe","reason":"closed"}}"#,
        #"{"jsonrpc":"2.0","id":6,"result":{}}"#,
      ])
  }
}
