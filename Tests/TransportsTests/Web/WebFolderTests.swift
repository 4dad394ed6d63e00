// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Transports

@Suite("Web folder")
struct WebFolderTests {
  @Test("files that are read and not yet sent are limited in bytes")
  func memoryLimit() throws {
    // All available bytes, apart from those that other tests may use at the moment.
    var claims = (1...3).map { _ in WebFolder.Claim(bytes: 20 << 20) }
    #expect(claims.allSatisfy { $0 != nil })
    #expect(WebFolder.Claim(bytes: 20 << 20) == nil)
    claims.removeLast()
    #expect(WebFolder.Claim(bytes: 20 << 20) != nil)
  }

  @Test("if there is no space for a file, the client is asked to retry, and gets no other file")
  func busy() throws {
    let text = "GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let read = try Array(text.utf8).withUnsafeBytes { try RequestHead.read($0)?.head }
    let head = try #require(read)
    let router = try WebRouter(WebSite(files: ["a.txt": [1]]))
    #expect(router.response(head, with: .missing).status == .ok)
    let response = router.response(head, with: .busy)
    #expect(response.status == .unavailable && response.closes)
    #expect(response.fields.contains { $0.name == "Retry-After" })
  }
}
