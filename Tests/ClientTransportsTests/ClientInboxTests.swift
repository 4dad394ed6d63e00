// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ClientTransports

@Suite("Client inbox")
struct ClientInboxTests {
  func filled(_ framing: Framing = .lines, with stream: String) -> ClientInbox {
    var inbox = ClientInbox(framing: framing, maximumMessageBytes: 1024)
    [UInt8](stream.utf8).withUnsafeBytes { inbox.bytesArrived($0) }
    return inbox
  }

  func failure(_ inbox: ClientInbox) -> ClientError? {
    if case .failed(let error) = inbox.ending { error as? ClientError } else { nil }
  }

  @Test("the inbox keeps messages in order, also those before a fault")
  func order() {
    var inbox = filled(with: "1\n22\n\(String(repeating: "3", count: 1025))\n4\n")
    #expect(inbox.popFirst() == [0x31])
    #expect(inbox.popFirst() == [0x32, 0x32])
    #expect(inbox.popFirst() == nil)
    #expect(failure(inbox) == .messageTooLarge)
  }

  @Test("the inbox refuses messages in the other framing")
  func framing() {
    #expect(failure(filled(.headers, with: "{}\n")) == .otherFraming(.lines))
    #expect(failure(filled(.lines, with: "Content-Length: 2\r\n\r\n{}")) == .otherFraming(.headers))
    #expect(
      failure(filled(.headers, with: "Content-Length: x\r\n\r\n"))
        == .unusableHeader(.invalidLength))
  }

  @Test("the inbox ends with the stream, once")
  func ending() {
    var inbox = filled(with: "1\n2")
    inbox.streamEnded(.closed)
    inbox.streamEnded(.failed(ClientError.closed))
    #expect(inbox.popFirst() == [0x31])
    #expect(inbox.popFirst() == [0x32])
    guard case .closed = inbox.ending else {
      Issue.record("not ended")
      return
    }
    #expect(!inbox.wantsMore)

    var cut = filled(.headers, with: "Content-Length: 2\r\n\r\n{")
    cut.streamEnded(.closed)
    #expect(failure(cut) == .unusableHeader(.incomplete))
  }

  @Test("a full inbox wants no more bytes until messages are taken")
  func bound() {
    let message = String(repeating: "x", count: 1023) + "\n"
    var inbox = filled(with: "")
    for _ in 0..<256 {
      #expect(inbox.wantsMore)
      [UInt8](message.utf8).withUnsafeBytes { inbox.bytesArrived($0) }
    }
    [UInt8](message.utf8).withUnsafeBytes { inbox.bytesArrived($0) }
    #expect(!inbox.wantsMore)
    _ = inbox.popFirst()
    _ = inbox.popFirst()
    #expect(inbox.wantsMore)
  }
}
