// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import Transports

@Suite("A folder that is served")
struct WebFolderTests {
  @Test("what is read and not sent takes no more room than there is")
  func room() throws {
    // All that there is but for what other tests may have just now.
    var claims = (1...3).map { _ in WebFolder.Claim(bytes: 20 << 20) }
    #expect(claims.allSatisfy { $0 != nil })
    #expect(WebFolder.Claim(bytes: 20 << 20) == nil)
    claims.removeLast()
    #expect(WebFolder.Claim(bytes: 20 << 20) != nil)
  }

  @Test("a file for which there is no room is asked for again, and none is shown in its place")
  func busy() throws {
    let text = "GET /a.txt HTTP/1.1\r\nHost: localhost\r\n\r\n"
    let read = try Array(text.utf8).withUnsafeBytes { try RequestHead.read($0)?.head }
    let head = try #require(read)
    let router = try WebRouter(WebSite(files: ["a.txt": [1]]))
    #expect(router.answer(head, with: .missing).status == .ok)
    let answer = router.answer(head, with: .busy)
    #expect(answer.status == .unavailable && answer.closes)
    #expect(answer.fields.contains { $0.name == "Retry-After" })
  }
}
