// SPDX-License-Identifier: Apache-2.0

import Testing

@Suite("initialize and ping", .timeLimit(.minutes(15)))
struct InitializeTests {
  static let result =
    #"{"protocolVersion":"1","server":{"name":"tests","version":"0"},"capabilities":{},"#
    + #""limits":{"frameBytes":1048576,"nesting":128,"batchLength":1000}}"#

  static let scripts = [
    Script(
      "without a version, the newest version is selected",
      .send(
        request("1", "initialize"), request("2", "initialize", "{}"),
        request("3", "initialize", #"{"protocolVersion":null,"client":null}"#)),
      .expect(response("1", result), response("2", result), response("3", result))
    ),
    Script(
      "a supported version is accepted, at any time",
      .send(
        set("1", 1),
        request(
          "2", "initialize",
          #"{"protocolVersion":"1","client":{"name":"x","version":"2"},"token":"t"}"#),
        request("3", "initialize", #"{"client":{"name":"x"}}"#)),
      .expect(sent("1", revision: 1), response("2", result), response("3", result))
    ),
    Script(
      "an unsupported version is refused with the supported ones, and the connection stays open",
      .send(request("1", "initialize", #"{"protocolVersion":"2"}"#), request("2", "ping")),
      .expect(failure("1", -32017, data: #"{"supported":["1"]}"#), response("2"))
    ),
    Script(
      "invalid parameters are errors with their paths",
      .send(
        request("1", "initialize", #"{"protocolVersion":1}"#),
        request("2", "initialize", #"{"client":{}}"#),
        request("3", "initialize", #"{"client":{"name":"x","version":2}}"#),
        request("4", "initialize", "[]")),
      .expect(
        refusal("1", path: "/protocolVersion"), refusal("2", path: "/client/name"),
        refusal("3", path: "/client/version"), refusal("4", path: ""))
    ),
    Script(
      "ping ignores its parameters",
      .send(request("1", "ping", #"{"x":1}"#), request("2", "ping", "null")),
      .expect(response("1"), response("2"))
    ),
  ]

  @Test("client and server agree on a protocol version", arguments: scripts)
  func script(_ script: Script) async throws { try await script.run() }
}
