// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOSSL
import Testing

@testable import ClientTransports

@Suite("Client error")
struct ClientErrorTests {
  @Test("errors of TLS are distinguished from other errors")
  func tls() {
    #expect(ClientError(tls: NIOSSLError.uncleanShutdown) == .ended)
    #expect(ClientError(tls: NIOSSLError.readInInvalidTLSState) == nil)
    #expect(ClientError(tls: ChannelError.eof) == nil)
  }
}
