// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import StatewireProtocol

/// Tests that messages are read and written as documented.
@Suite("Messages as JSON")
struct MessageShapeTests {
  @Test("each method has its documented, unique name")
  func methods() {
    let methods = [
      "\(CancelRequest.method)", "\(Initialize.method)", "\(Ping.method)",
      "\(StoreChanged.method)", "\(StoreClose.method)", "\(StoreClosed.method)",
      "\(StoreOpen.method)", "\(StoreSend.method)", "\(StoreState.method)",
      "\(StoreSubscribe.method)", "\(StoreUnsubscribe.method)", "\(StoreEvent.method)",
      "\(FrontendLifecycle.method)", "\(SessionOpen.method)", "\(SessionAttach.method)",
      "\(SessionDetach.method)", "\(SessionClose.method)", "\(SessionInfo.method)",
      "\(SessionClosed.method)", "\(SessionPresence.method)", "\(SessionTrace.method)",
      "\(SessionTraced.method)", "\(TestAdvanceClock.method)", "\(TestInjectFault.method)",
    ]
    #expect(
      methods == [
        "$/cancelRequest", "initialize", "ping", "store/changed", "store/close", "store/closed",
        "store/open", "store/send", "store/state", "store/subscribe", "store/unsubscribe",
        "store/event", "frontend/lifecycle", "session/open", "session/attach", "session/detach",
        "session/close", "session/info", "session/closed", "session/presence", "session/trace",
        "session/traced", "test/advanceClock", "test/injectFault",
      ])
    #expect(Set(methods).count == methods.count)
  }

  /// Checks that a text can be decoded and is encoded as `written`, by default as the same text.
  private func check<Message: Codable>(
    _ type: Message.Type, _ text: String, writes written: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let message = try JSON.decode(type, from: Array(text.utf8))
    #expect(
      String(decoding: try JSON.encode(message), as: UTF8.self) == written ?? text,
      sourceLocation: sourceLocation)
  }

  /// Checks that a text is refused with the path of the error.
  private func refuse<Message: Codable>(
    _ type: Message.Type, _ text: String, at path: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    do throws(JSONError) {
      _ = try JSON.decode(type, from: Array(text.utf8))
      Issue.record("\(text) was accepted", sourceLocation: sourceLocation)
    } catch {
      #expect(error.pathDescription == path, sourceLocation: sourceLocation)
    }
  }

  @Test("session/attach is read and written as documented")
  func sessionAttach() throws {
    try check(
      SessionAttach.Params.self,
      #"{"session":"x","frontend":"page","role":"observer","revisions":{"a":1,"b":null}}"#)
    try check(
      SessionAttach.Params.self, #"{"session":"x","revisions":{"a":1,"a":2}}"#,
      writes: #"{"session":"x","frontend":null,"role":null,"revisions":{"a":2}}"#)
    refuse(SessionAttach.Params.self, "{}", at: "/session")
    refuse(SessionAttach.Params.self, #"{"session":"x","role":"king"}"#, at: "/role")
    refuse(
      SessionAttach.Params.self, #"{"session":"x","revisions":{"a/b":-1}}"#, at: "/revisions/a~1b")
    refuse(SessionAttach.Params.self, #"{"session":"x","revisions":{"a":1.5}}"#, at: "/revisions/a")
    refuse(SessionAttach.Params.self, #"{"session":"x","revisions":[1]}"#, at: "/revisions")
  }

  @Test("session/open is read and written as documented")
  func sessionOpen() throws {
    try check(SessionOpen.Params.self, "{}", writes: #"{"frontend":null}"#)
    try check(SessionOpen.Result.self, #"{"session":"x"}"#)
    refuse(SessionOpen.Params.self, #"{"frontend":1}"#, at: "/frontend")
  }

  @Test("initialize is read and written as documented")
  func initialize() throws {
    try check(
      Initialize.Params.self,
      #"{"protocolVersion":"1","client":{"name":"x","version":"2"},"token":"secret"}"#)
    try check(
      Initialize.Params.self, "{}", writes: #"{"protocolVersion":null,"client":null,"token":null}"#)
    try check(
      Initialize.Params.self, #"{"client":{"name":"x"},"other":1}"#,
      writes: #"{"protocolVersion":null,"client":{"name":"x","version":null},"token":null}"#)
    refuse(Initialize.Params.self, #"{"token":1}"#, at: "/token")
    refuse(Initialize.Params.self, #"{"client":{}}"#, at: "/client/name")
    refuse(Initialize.Params.self, #"{"protocolVersion":1}"#, at: "/protocolVersion")
    let rest = #""capabilities":{},"limits":{"frameBytes":9,"nesting":8,"batchLength":7}}"#
    try check(
      Initialize.Result.self,
      #"{"protocolVersion":"1","server":{"name":"s","version":"0.1"},"# + rest)
    let result = Initialize.Result(
      protocolVersion: "1", server: Initialize.Program(name: "s", version: nil),
      limits: Initialize.Limits(frameBytes: 9, nesting: 8, batchLength: 7))
    #expect(
      String(decoding: try JSON.encode(result), as: UTF8.self)
        == #"{"protocolVersion":"1","server":{"name":"s","version":null},"# + rest)
    #expect(Initialize.supportedVersions == ["1"])
  }

  @Test("store/open is read and written as documented")
  func open() throws {
    try check(StoreOpen.Params.self, #"{"store":"a","kind":"b","config":{"c":[1.50,null]}}"#)
    try check(
      StoreOpen.Params.self, #"{"kind":"b","store":"a"}"#,
      writes: #"{"store":"a","kind":"b","config":null}"#)
    refuse(StoreOpen.Params.self, #"{"store":"a"}"#, at: "/kind")
    refuse(StoreOpen.Params.self, #"{"store":1,"kind":"b"}"#, at: "/store")
    try check(StoreOpen.Result.self, #"{"revision":7}"#)
    #expect(StoreOpen.Result(revision: 3).revision == 3)
  }

  @Test("store/subscribe and store/unsubscribe are read and written as documented")
  func subscribe() throws {
    for format in ["patch", "state"] {
      try check(StoreSubscribe.Params.self, #"{"store":"a","format":"\#(format)"}"#)
    }
    try check(
      StoreSubscribe.Params.self, #"{"store":"a"}"#, writes: #"{"store":"a","format":null}"#)
    refuse(StoreSubscribe.Params.self, #"{"store":"a","format":"Patch"}"#, at: "/format")
    try check(StoreUnsubscribe.Params.self, #"{"store":"a"}"#)
  }

  @Test("store/send, store/state and store/close are read and written as documented")
  func send() throws {
    try check(StoreSend.Result.self, #"{"revision":1,"changed":false}"#)
    #expect(StoreSend.Result(revision: 1, changed: true).changed)
    try check(StoreState.Params.self, #"{"store":""}"#)
    refuse(StoreState.Params.self, "{}", at: "/store")
    try check(StoreClose.Params.self, #"{"store":"a"}"#)
    refuse(StoreClose.Params.self, #"{"store":null}"#, at: "/store")
  }

  @Test("$/cancelRequest keeps the text of the id")
  func cancel() throws {
    for id in ["1", "-0", "1e2", "\"x\"", "123456789012345678901234567890"] {
      try check(CancelRequest.Params.self, #"{"id":\#(id)}"#)
    }
    refuse(CancelRequest.Params.self, "{}", at: "/id")
  }
}
