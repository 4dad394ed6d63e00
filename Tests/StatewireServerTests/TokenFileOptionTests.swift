// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import StatewireServer
import TestSupport
import Testing

@Suite("Option for a token")
struct TokenFileOptionTests {
  private func token(_ content: [UInt8]) throws -> String? {
    let folder = try TestFolder()
    let path = folder.file("token")
    try content.withUnsafeBytes { try Data($0).write(to: folder.url.appending(path: "token")) }
    return try TokenFileOption.parse(["--token-file", path]).token()
  }

  @Test("the token is the first line without white space after it")
  func firstLine() throws {
    for text in ["secret", "secret\n", "secret \t\r\n", "secret\nanother\n"] {
      #expect(try token(Array(text.utf8)) == "secret")
    }
    #expect(try TokenFileOption.parse([]).token() == nil)
  }

  @Test("a line that cannot be a token is refused without being shown")
  func unusable() throws {
    for content: [UInt8] in [
      [], [0x0A], Array("two words".utf8), Array("secret\rx".utf8), [0xFF, 0xFE, 0x73, 0],
      Array("sécret".utf8),
    ] {
      do {
        _ = try token(content)
        Issue.record("\(content) is a token")
      } catch {
        let message = "\(error)"
        #expect(message.contains("is not a token of visible ASCII characters"))
        #expect(!message.contains("secret") && !message.contains("words"))
      }
    }
  }
}
