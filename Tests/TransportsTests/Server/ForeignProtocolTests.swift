// SPDX-License-Identifier: Apache-2.0

import ClientTransports
import ServerCore
import Testing
import TransportTestSupport

@testable import Transports

/// The story: a web page called `fetch` with the port of `--tcp` and a message as the body. The
/// server executed the message.
@Suite("Other protocols at a TCP port", .timeLimit(.minutes(15)))
struct ForeignProtocolTests {
  @Test("a browser's request gets an HTTP response, and its body is not executed")
  func fetch() async throws {
    try await withServer { server in
      let socket = try PlainSocket(server.addresses[0])
      try socket.send(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/plain;charset=UTF-8\r\n"
          + "Origin: http://example.com\r\nContent-Length: \(ping.utf8.count)\r\n\r\n")
      try socket.send(ping)
      let response = String(decoding: try socket.receiveAll(), as: UTF8.self)
      #expect(response.hasPrefix("HTTP/1.1 400 "), "\(response)")
      #expect(response.hasSuffix("\n") && !response.contains("jsonrpc"), "\(response)")
      let client = try await ClientConnection.connect(to: server.addresses[0])
      #expect(try await client.pings())
      await client.close()
    }
  }

  @Test("a client of another protocol gets one error, and is closed")
  func others() async throws {
    try await withServer { server in
      for beginning in ["SSH-2.0-x\r\n", "\u{16}\u{3}\u{1}", "help\n"] {
        let socket = try PlainSocket(server.addresses[0])
        try socket.send(beginning + ping + "\n")
        let response = String(decoding: try socket.receiveAll(), as: UTF8.self)
        #expect(response.contains("-32700"), "\(response)")
        #expect(response.filter { $0 == "\n" }.count == 1, "\(response)")
      }
    }
  }
}
