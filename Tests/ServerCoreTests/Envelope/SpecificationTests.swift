// SPDX-License-Identifier: Apache-2.0

import Testing

/// The examples of JSON-RPC 2.0, section 7, in their order and exactly as written there.
///
/// Statewire does not have the methods of the examples, so methods of Statewire replace `subtract`.
/// The server refuses positional parameters, so examples with them get an error.
@Suite("JSON-RPC 2.0, section 7", .timeLimit(.minutes(15)))
struct SpecificationTests {
  static let scripts = [
    Script(
      "call with positional parameters",
      .send(#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#),
      .expect(#"{"jsonrpc": "2.0", "error": {"code": -32601}, "id": 1}"#),
      .send(#"{"jsonrpc": "2.0", "method": "store/open", "params": [23, 42], "id": 2}"#),
      .expect(#"{"jsonrpc": "2.0", "error": {"code": -32602, "data": {"path": ""}}, "id": 2}"#)
    ),
    Script(
      "call with named parameters",
      .send(
        #"{"jsonrpc": "2.0", "method": "store/open", "params": {"store": "s", "kind": "probe"}, "id": 3}"#
      ),
      .expect(#"{"jsonrpc": "2.0", "result": {"revision": 0}, "id": 3}"#),
      .send(
        #"{"jsonrpc": "2.0", "method": "store/open", "params": {"kind": "probe", "store": "s"}, "id": 4}"#
      ),
      .expect(#"{"jsonrpc": "2.0", "result": {"revision": 0}, "id": 4}"#)
    ),
    Script(
      "a notification",
      .send(#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#),
      .expectNothing,
      .send(#"{"jsonrpc": "2.0", "method": "foobar"}"#),
      .expectNothing
    ),
    Script(
      "call of a method that does not exist",
      .send(#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#),
      .expect(
        #"{"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "1"}"#)
    ),
    Script(
      "call with invalid JSON",
      .send(#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#),
      .expect(
        #"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}"#)
    ),
    Script(
      "call with an invalid request object",
      .send(#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#),
      .expect(
        #"{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}"#)
    ),
    Script(
      "call of a batch with invalid JSON",
      .send(
        #"[ {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"}, {"jsonrpc": "2.0", "method" ]"#
      ),
      .expect(
        #"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}"#)
    ),
    Script(
      "call with an empty array",
      .send("[]"),
      .expect(
        #"{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}"#)
    ),
    Script(
      "call with an invalid batch, but not empty",
      .send("[1]"),
      .expect(
        #"[{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}]"#
      )
    ),
    Script(
      "call with an invalid batch",
      .send("[1,2,3]"),
      .expect(
        """
        [{"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
        {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
        {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null}]
        """)
    ),
    Script(
      "call of a batch",
      .send(
        """
        [ {"jsonrpc": "2.0", "method": "ping", "params": {}, "id": "1"}, \
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}, \
        {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"}, \
        {"foo": "boo"}, \
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"}, \
        {"jsonrpc": "2.0", "method": "initialize", "id": "9"} ]
        """),
      .expect(
        """
        [{"jsonrpc": "2.0", "result": {}, "id": "1"},
        {"jsonrpc": "2.0", "error": {"code": -32601}, "id": "2"},
        {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid Request"}, "id": null},
        {"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "5"},
        {"jsonrpc": "2.0", "result":
        {"protocolVersion": "1", "server": {"name": "tests", "version": "0"}, "capabilities": {},
         "limits": {"frameBytes": 1048576, "nesting": 128, "batchLength": 1000}}, "id": "9"}]
        """)
    ),
    Script(
      "call of a batch that is all notifications",
      .send(
        """
        [ {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]}, \
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]} ]
        """),
      .expectNothing
    ),
  ]

  @Test("the server responds to the examples as the specification demands", arguments: scripts)
  func example(_ script: Script) async throws { try await script.run() }
}
