// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import Conversations

/// Tests that record messages and compare the lines of the file.
@Suite("Conversation recorder")
struct ConversationRecorderTests {
  static let description: JSONValue = [
    "x-stores": [
      "form": ["secrets": ["value", "firstEntry"]], "plain": ["secrets": []],
      "balance": ["secrets": ["balance"]],
    ]
  ]

  /// A recorder with one connection; `>` and `<` before a message are its direction.
  private struct Recording {
    var recorder: ConversationRecorder
    let connection: Int
    var time = Duration.zero

    init(_ secrets: ServerSecrets = described(), maximumBytes: Int = 1 << 20) {
      recorder = ConversationRecorder(
        secrets: secrets, isSingle: true, maximumBytes: maximumBytes)
      connection = recorder.opened()
    }

    mutating func took(_ message: String) -> [String] {
      let side: ConversationRecorder.Side = message.first == ">" ? .client : .server
      return recorder.took(
        Array(message.dropFirst(2).utf8), from: side, on: connection, at: time)
    }
  }

  static func described(isComplete: Bool = true) -> ServerSecrets {
    var secrets = ServerSecrets()
    secrets.learn(from: description, isComplete: isComplete)
    return secrets
  }

  /// Records messages, compares the lines without `"jsonrpc"`, and checks that they can be parsed.
  private func check(
    _ messages: [String], _ expected: [String], _ secrets: ServerSecrets = described(),
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var recording = Recording(secrets)
    let lines = messages.flatMap { recording.took($0) }
    #expect(lines == expected, sourceLocation: sourceLocation)
    #expect(throws: Never.self, sourceLocation: sourceLocation) {
      try conversation(lines.joined(separator: "\n"))
    }
  }

  @Test("handles, identifiers and times get names or placeholders, if the server has made them")
  func changingValues() throws {
    let id = "9f0c2d34-0a5b-4c6d-8e7f-0123456789ab"
    let own = "11111111-0a5b-4c6d-8e7f-0123456789ab"
    try check(
      [
        #"> {"id":1,"method":"session/open"}"#,
        #"< {"id":1,"result":{"session":"s3cr3t"}}"#,
        #"> {"id":2,"method":"store/send","params":{"store":"plain","input":{"id":"\#(own)","at":"9:41"}}}"#,
        #"< {"method":"store/changed","params":{"store":"plain","patch":[{"path":"/\#(id)","value":"\#(id)"}]}}"#,
        #"< {"id":2,"result":{"all":{"at":"9:41","then":"9:42","\#(id)":1,"id":"\#(own)","text":"<_>"}}}"#,
        #"> {"id":4,"method":"store/send","params":{"store":"plain","input":{"a":"to \#(id)"}}}"#,
        #"> {"id":5,"method":"session/attach","params":{"session":"s3cr3t"}}"#,
        #"> {"id":6,"method":"session/attach","params":{"session":"another"}}"#,
        #"> {"id":7,"method":"initialize","params":{"token":"t0k3n"}}"#,
        #"< {"id":7,"error":{"code":-32016,"message":"not t0k3n"}}"#,
      ],
      [
        #"--> {"id": 1, "method": "session/open"}"#,
        #"<-- {"id": 1, "result": {"session": "<session1:string>"}}"#,
        #"--> {"id": 2, "method": "store/send", "params": {"store": "plain", "input": {"id": "\#(own)", "at": "9:41"}}}"#,
        #"<-- {"method": "store/changed", "params": {"store": "plain", "patch": [{"path": "<_:string>", "value": "<id1>"}]}}"#,
        #"<-- {"id": 2, "result": {"all": {"at": "9:41", "then": "<_:string>", "id": "\#(own)", "text": "<<_>", "...": "..."}}}"#,
        #"--> {"id": 4, "method": "store/send", "params": {"store": "plain", "input": {"a": "to <id1>"}}}"#,
        #"--> {"id": 5, "method": "session/attach", "params": {"session": "<session1>"}}"#,
        "@given session2",
        #"--> {"id": 6, "method": "session/attach", "params": {"session": "<session2>"}}"#,
        "@given token1",
        #"--> {"id": 7, "method": "initialize", "params": {"token": "<token1>"}}"#,
        #"<-- {"id": 7, "error": {"code": -32016, "message": "<_:string>"}}"#,
      ])
  }

  @Test("a member that reads as the sign for further members is sent, and expected as any string")
  func ellipses() throws {
    try check(
      [
        #"> {"id":1,"method":"store/send","params":{"store":"plain","input":{"...":"..."}}}"#,
        #"< {"id":1,"result":{"a":[{"...":"..."}],"b":{"...":{"...":1}},"...":"..."},"...":"..."}"#,
        #"< {"method":"store/event","params":{"store":"plain","event":{"9:41":1,"...":"..."}}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "plain", "input": {"...": "..."}}}"#,
        #"<-- {"id": 1, "result": {"a": [{"...": "<_:string>"}], "b": {"...": {"...": 1}}, "...": "<_:string>"}, "...": "<_:string>"}"#,
        #"<-- {"method": "store/event", "params": {"store": "plain", "event": {"...": "..."}}}"#,
      ])
  }

  @Test("secret members are redacted in both directions, and found in other texts")
  func secrets() throws {
    try check(
      [
        #"> {"id":1,"method":"store/send","params":{"store":"form","input":{"type":"a","value":"hunter2"}}}"#,
        #"< {"method":"store/changed","params":{"store":"form","patch":[{"op":"replace","path":"/firstEntry","value":"hunter2"},{"op":"add","path":"/note","value":"is hunter2"}]}}"#,
        #"< {"id":1,"error":{"code":-32602,"message":"hunter2 is short"}}"#,
        #"> {"id":2,"method":"store/open","params":{"store":"x","kind":"balance"}}"#,
        #"< {"id":2,"result":{}}"#,
        #"> {"id":3,"method":"store/subscribe","params":{"store":"x"}}"#,
        #"< {"id":3,"result":{"revision":0,"state":{"balance":"12.50","value":"12.5","text":"has 12.50","none":null}}}"#,
        #"> {"id":4,"method":"no/such","params":{"value":"swordfish","password":"a","n":3}}"#,
        #"> {"id":5,"method":"store/subscribe","params":{"store":"form","password":"swordfish"}}"#,
        #"> {"id":6,"method":"store/send","params":{"store":"form","input":{"value":{"swordfish":["Größe",true,12.5,""]}}}}"#,
        #"> {"id":7,"method":"store/send","params":{"store":"form","input":"hunter2"}}"#,
        #"> {"broken": hunter2"#,
        #"< {"id":null,"error":{"code":-32700,"message":"not JSON at 12"}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "form", "input": {"type": "a", "value": "red0000"}}}"#,
        #"<-- {"method": "store/changed", "params": {"store": "form", "patch": [{"op": "replace", "path": "/firstEntry", "value": "red0000"}, {"op": "add", "path": "/note", "value": "<_:string>"}]}}"#,
        #"<-- {"id": 1, "error": {"code": -32602, "message": "<_:string>"}}"#,
        #"--> {"id": 2, "method": "store/open", "params": {"store": "x", "kind": "balance"}}"#,
        #"<-- {"id": 2, "result": {}}"#,
        #"--> {"id": 3, "method": "store/subscribe", "params": {"store": "x"}}"#,
        #"<-- {"id": 3, "result": {"revision": 0, "state": {"balance": "<_:string>", "value": "12.5", "text": "<_:string>", "none": null}}}"#,
        #"--> {"id": 4, "method": "no/such", "params": {"value": "redac0001", "password": "2", "n": 1}}"#,
        #"--> {"id": 5, "method": "store/subscribe", "params": {"store": "form", "password": "redac0001"}}"#,
        #"--> {"id": 6, "method": "store/send", "params": {"store": "form", "input": {"value": {"redac0001": ["r0àà3", false, 10, ""]}}}}"#,
        #"--> {"id": 7, "method": "store/send", "params": {"store": "form", "input": "red0000"}}"#,
        "--> frame not JSON",
        #"<-- {"id": null, "error": {"...": "..."}}"#,
      ])
  }

  @Test("values of stores whose kind is not described, or not known, are redacted as a whole")
  func undescribed() throws {
    let messages = [
      #"> {"id":1,"method":"store/send","params":{"store":"mine","input":{"type":"set","key":"hunter2","deep":{"swordfish":7}}}}"#,
      #"< {"method":"store/changed","params":{"store":"mine","patch":[{"op":"add","path":"/hunter2","value":1}]}}"#,
      #"< {"id":1,"result":{"revision":1,"changed":true}}"#,
    ]
    try check(
      messages,
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "mine", "input": {"type": "set", "key": "red0000", "deep": {"redac0001": 1}}}}"#,
        #"<-- {"method": "store/changed", "params": {"store": "mine", "patch": "<_:array>"}}"#,
        #"<-- {"id": 1, "result": {"revision": 1, "changed": true}}"#,
      ], Self.described(isComplete: false))
    let kept = [
      #"--> {"id": 1, "method": "store/send", "params": {"store": "mine", "input": {"type": "set", "key": "red0000", "deep": {"swordfish": 7}}}}"#,
      #"<-- {"method": "store/changed", "params": {"store": "mine", "patch": [{"op": "add", "path": "<_:string>", "value": 1}]}}"#,
      #"<-- {"id": 1, "result": {"revision": 1, "changed": true}}"#,
    ]
    try check(messages, kept, ServerSecrets(names: ["KEY"], keepsUndescribed: true))
  }

  @Test("old requests are forgotten, and the memory of all is counted")
  func requests() {
    var requests = RecordedRequests()
    let long = String(repeating: "x", count: 1000)
    let open = RecordedRequests.Request(method: "store/open", store: long, kind: "form")
    for id in 0..<12_000 { requests.sent(open, id: .number(JSONNumber(Int64(id)))) }
    #expect(requests.byteCount > 7_000_000)
    #expect(requests.responded(id: 0, isError: false) == nil)
    for id in 5_000..<12_000 {
      _ = requests.responded(id: .number(JSONNumber(Int64(id))), isError: false)
    }
    #expect(requests.byteCount == 1000 + 4 + 64)
    requests.closed(long)
    #expect(requests.byteCount == 1000 + 64)

    var recording = Recording(maximumBytes: 100_000)
    var count = 0
    while !recording.recorder.hasEnded, count < 1000 {
      count += 1
      _ = recording.took("> {\"id\":\(count),\"method\":\"\(long)\"}")
    }
    #expect((50..<100).contains(count))
  }

  // A client that has not opened a store used the name of the store as its kind.
  @Test("a secret is not recorded if another client has opened its store with another kind")
  func twoClients() {
    var recorder = ConversationRecorder(secrets: Self.described())
    let (one, two) = (recorder.opened(), recorder.opened())
    var lines: [String] = []
    let messages = [
      (one, #"> {"id":1,"method":"session/open"}"#),
      (one, #"< {"id":1,"result":{"session":"s"}}"#),
      (one, #"> {"id":2,"method":"store/open","params":{"store":"x","kind":"plain"}}"#),
      (one, #"< {"id":2,"result":{}}"#),
      (two, #"> {"id":1,"method":"session/attach","params":{"session":"s"}}"#),
      (two, #"< {"id":1,"result":{"stores":{}}}"#),
      (two, #"> {"id":2,"method":"store/close","params":{"store":"x"}}"#),
      (two, #"> {"id":3,"method":"store/open","params":{"store":"x","kind":"form"}}"#),
      (two, #"< {"id":3,"result":{}}"#),
      (two, #"> {"id":4,"method":"store/open","params":{"store":"plain","kind":"balance"}}"#),
      (two, #"< {"id":4,"result":{}}"#),
      (one, #"> {"method":"store/send","params":{"store":"x","input":{"value":"hunter2"}}}"#),
      (one, #"> {"id":4,"method":"store/subscribe","params":{"store":"plain"}}"#),
      (one, #"< {"id":4,"result":{"revision":1,"state":{"balance":"31.41"}}}"#),
    ]
    for (connection, message) in messages {
      lines += recorder.took(
        Array(message.dropFirst(2).utf8), from: message.first == ">" ? .client : .server,
        on: connection, at: .zero)
    }
    #expect(lines.count == messages.count)
    #expect(!lines.joined().contains("hunter2"))
    #expect(!lines.joined().contains("31.41"))
  }

  @Test("secrets are found in members of stores that have the names of members of the protocol")
  func names() throws {
    try check(
      [
        #"> {"id":1,"method":"store/send","params":{"store":"form","input":{"type":"set","value":"hunter2"}}}"#,
        #"< {"method":"store/changed","params":{"store":"form","patch":[{"op":"replace","path":"","value":{"failure":{"reason":"hunter2 is short","kind":"hunter2","id":"hunter2","type":"a hunter2"}}}]}}"#,
        #"< {"id":1,"result":{"revision":1}}"#,
        #"> {"id":2,"method":"store/send","params":{"store":"hunter2","input":{"type":"hunter2"}}}"#,
        #"< {"method":"store/event","params":{"store":"hunter2","event":{"type":"hunter2"}}}"#,
        // Names that clients have sent before are needed, and described ones are public.
        #"> {"id":3,"method":"store/send","params":{"store":"mine","input":{"type":"tapped","value":"mine"}}}"#,
        #"> {"id":4,"method":"store/send","params":{"store":"mine","input":{"type":"tapped","value":"plain"}}}"#,
        #"> {"id":5,"method":"store/send","params":{"store":"mine","input":{"type":"tapped","value":"tapped"}}}"#,
        #"> {"id":6,"method":"store/subscribe","params":{"store":"plain"}}"#,
        #"< {"method":"store/changed","params":{"store":"mine","patch":[]}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "form", "input": {"type": "set", "value": "red0000"}}}"#,
        #"<-- {"method": "store/changed", "params": {"store": "form", "patch": [{"op": "replace", "path": "", "value": {"failure": {"reason": "<_:string>", "kind": "<_:string>", "id": "<_:string>", "type": "<_:string>"}}}]}}"#,
        #"<-- {"id": 1, "result": {"revision": 1}}"#,
        #"--> {"id": 2, "method": "store/send", "params": {"store": "red0000", "input": {"type": "red0000"}}}"#,
        #"<-- {"method": "store/event", "params": {"store": "<_:string>", "event": {"type": "<_:string>"}}}"#,
        #"--> {"id": 3, "method": "store/send", "params": {"store": "mine", "input": {"type": "tapped", "value": "0001"}}}"#,
        #"--> {"id": 4, "method": "store/send", "params": {"store": "mine", "input": {"type": "tapped", "value": "r0002"}}}"#,
        #"--> {"id": 5, "method": "store/send", "params": {"store": "mine", "input": {"type": "tapped", "value": "re0003"}}}"#,
        #"--> {"id": 6, "method": "store/subscribe", "params": {"store": "plain"}}"#,
        #"<-- {"method": "store/changed", "params": {"store": "mine", "patch": []}}"#,
      ])
  }

  @Test("the data of an error has the rule of its store")
  func errors() throws {
    let refusal =
      #""error":{"code":-32602,"message":"no","data":{"path":"/input","value":"1234.56","deep":[{"firstEntry":77}]}}"#
    try check(
      [
        #"> {"id":1,"method":"store/send","params":{"store":"form","input":{"type":"a"}}}"#,
        #"< {"id":1,\#(refusal)}"#,
        #"> {"id":2,"method":"store/send","params":{"store":"plain","input":{"type":"a"}}}"#,
        #"< {"id":2,"error":{"code":-32602,"message":"no","data":{"path":"/input"}}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "form", "input": {"type": "a"}}}"#,
        #"<-- {"id": 1, "error": {"code": -32602, "message": "no", "data": {"path": "/input", "value": "<_:string>", "deep": [{"firstEntry": "<_:number>"}]}}}"#,
        #"--> {"id": 2, "method": "store/send", "params": {"store": "plain", "input": {"type": "a"}}}"#,
        #"<-- {"id": 2, "error": {"code": -32602, "message": "no", "data": {"path": "/input"}}}"#,
      ])
    try check(
      [
        #"> {"id":1,"method":"store/send","params":{"store":"mine","input":{"type":"a"}}}"#,
        #"< {"id":1,"error":{"code":-32602,"message":"the word is hunter2","data":{"word":"hunter2"}}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "mine", "input": {"type": "a"}}}"#,
        #"<-- {"id": 1, "error": {"code": -32602, "...": "..."}}"#,
      ], Self.described(isComplete: false))
  }

  @Test("responses to requests with the same id are redacted as a whole")
  func sameIDs() throws {
    try check(
      [
        #"> {"id":1,"method":"store/state","params":{"store":"form"}}"#,
        #"> {"id":1,"method":"ping"}"#,
        #"< {"id":1,"result":{"revision":1,"state":{"value":"hunter2"}}}"#,
        #"> {"id":1,"method":"ping"}"#,
        #"< {"id":1,"result":{"state":{"firstEntry":"hunter3"}}}"#,
        #"< {"id":1,"error":{"code":-32602,"message":"hunter4"}}"#,
        #"> {"id":1,"method":"ping"}"#,
        #"< {"id":1,"result":{"a":1}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/state", "params": {"store": "form"}}"#,
        #"--> {"id": 1, "method": "ping"}"#,
        #"<-- {"id": 1, "result": "<_:object>"}"#,
        #"--> {"id": 1, "method": "ping"}"#,
        #"<-- {"id": 1, "result": "<_:object>"}"#,
        #"<-- {"id": 1, "error": {"code": -32602, "...": "..."}}"#,
        #"--> {"id": 1, "method": "ping"}"#,
        #"<-- {"id": 1, "result": {"a": 1}}"#,
      ])
  }

  @Test("a secret number of four digits is found as a number too, but not as a revision")
  func numbers() throws {
    try check(
      [
        #"> {"id":1,"method":"store/send","params":{"store":"form","input":{"value":4711,"firstEntry":"12.50"}}}"#,
        #"< {"method":"store/changed","params":{"store":"form","revision":4711,"patch":[{"op":"add","path":"/total","value":4711}]}}"#,
        #"< {"method":"store/event","params":{"store":"form","event":{"a":-4711,"b":12.50,"c":[471],"d":47110}}}"#,
        #"> {"id":4711,"method":"store/send","params":{"store":"plain","input":{"n":4711,"m":[12.50,13.50]}}}"#,
      ],
      [
        #"--> {"id": 1, "method": "store/send", "params": {"store": "form", "input": {"value": 1000, "firstEntry": "r0000"}}}"#,
        #"<-- {"method": "store/changed", "params": {"store": "form", "revision": 4711, "patch": [{"op": "add", "path": "/total", "value": "<_:number>"}]}}"#,
        #"<-- {"method": "store/event", "params": {"store": "form", "event": {"a": "<_:number>", "b": "<_:number>", "c": [471], "d": 47110}}}"#,
        #"--> {"id": 4711, "method": "store/send", "params": {"store": "plain", "input": {"n": 1000, "m": [10, 13.50]}}}"#,
      ])
  }

  @Test("pauses before messages of clients, ends and several connections have lines")
  func lines() {
    var recorder = ConversationRecorder(secrets: Self.described())
    let (one, two) = (recorder.opened(), recorder.opened())
    var lines = recorder.took(Array("1".utf8), from: .client, on: one, at: .seconds(5))
    lines += recorder.took(Array("2".utf8), from: .server, on: one, at: .milliseconds(5200))
    lines += recorder.took(
      Array("[]".utf8), from: .client, on: two, at: .milliseconds(6_450))
    lines += recorder.ended(.client, of: two, at: .milliseconds(6_452))
    lines += recorder.ended(.server, of: two, at: .milliseconds(6_452))
    lines += recorder.ended(.client, of: two, isAbrupt: true, at: .milliseconds(6_452))
    lines += recorder.stopped(one, reason: "a message is too large")
    lines += recorder.took(Array("3".utf8), from: .server, on: one, at: .seconds(7))
    lines += recorder.ended(.client, of: one, isAbrupt: true, at: .seconds(9))
    #expect(
      lines == [
        "c1 --> 1", "c1 <-- \"<_:number>\"", "@pause 1.250", "c2 --> []", "c2 --> end of input",
        "c2 <-- close", "# The recording of c1 ends here: a message is too large.",
      ])
  }

  @Test("the recording ends when identifiers and secrets take too much memory")
  func bound() {
    var recording = Recording(maximumBytes: 10_000)
    var count = 0
    while !recording.recorder.hasEnded, count < 1000 {
      count += 1
      let value = "\"secret \(count)\""
      _ = recording.took(
        "> {\"method\":\"store/send\",\"params\":{\"store\":\"form\",\"input\":{\"value\":\(value)}}}"
      )
    }
    #expect((20..<100).contains(count))
    #expect(recording.took("> 1").isEmpty)
  }

  @Test("a placeholder is the same each time, and has the lengths of the secret")
  func placeholders() {
    var placeholders = SecretPlaceholders()
    let secrets = [
      "a", "ab", "abcde", "quux\"\\corge", "Größe-Straße-42", "👍🏽👍🏽👍🏽👍🏽", "\u{1}x",
      "x\u{301}yz",
    ]
    var all: [String] = []
    for secret in secrets + ["abcdf", "👍🏽👍🏽👍🏾👍🏽"] {
      let placeholder = placeholders.placeholder(for: secret)
      #expect(placeholder.count == secret.count)
      #expect(
        JSONValue.string(placeholder).bytes.count == JSONValue.string(secret).bytes.count,
        "\(secret)")
      #expect(placeholders.placeholder(for: secret) == placeholder)
      all.append(placeholder)
    }
    #expect(Set(all).count == all.count)
    #expect(placeholders.placeholder(for: "") == "")
    #expect(placeholders.replacing(in: "abcdf, abcde!") == "\(all[8]), \(all[2])!")
    #expect(placeholders.replacing(in: "abc") == nil)
  }
}
