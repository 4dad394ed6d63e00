// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import TestSupport
import Testing

@testable import RemoteSources

@Suite("Source argument", .timeLimit(.minutes(20)))
struct SourceArgumentTests {
  @Test(
    "an argument with a URL has a name and a URL",
    arguments: [
      ("user=https://example.com/user?a=b", "user", "https://example.com:443/user?a=b"),
      ("User-2_a.b=HTTP://127.0.0.1:1", "User-2_a.b", "http://127.0.0.1:1/"),
    ])
  func http(text: String, name: String, url: String) throws {
    let argument = try SourceArgument(text)
    #expect(argument.name == name)
    #expect(argument.location == .http(try HTTPAddress(url)))
  }

  @Test(
    "an argument with a file has a name and a file",
    arguments: ["notes=file:a/b=c.txt", "notes=FILE:a/b=c.txt"])
  func file(text: String) throws {
    let argument = try SourceArgument(text)
    #expect(argument.name == "notes")
    #expect(argument.location == .file(try FileName("a/b=c.txt")))
  }

  @Test(
    "an invalid argument is refused in one sentence that does not quote a URL",
    arguments: [
      ("", "a source must have the form NAME=URL"),
      ("https://example.com/secret", "a source must have the form NAME=URL"),
      (
        "=https://example.com/secret",
        #"the name of a source may only contain letters, digits, ".", "-" and "_""#
      ),
      (
        "https://example.com/?key=secret",
        #"the name of a source may only contain letters, digits, ".", "-" and "_""#
      ),
      ("é=file:a", #"the name of a source may only contain letters, digits, ".", "-" and "_""#),
      ("a=", "the source a cannot be used: its URL must start with https://, http:// or file:"),
      (
        "a=secret.txt",
        "the source a cannot be used: its URL must start with https://, http:// or file:"
      ),
      (
        "a=ftp://secret",
        "the source a cannot be used: its URL must start with https://, http:// or file:"
      ),
      ("a=file", "the source a cannot be used: its URL must start with https://, http:// or file:"),
      ("a=http:secret", "the source a cannot be used: a URL must start with http:// or https://"),
      (
        "a=http://me:secret@b/",
        "the source a cannot be used: a URL must not hold a user name or a password"
      ),
      ("a=file:", "the source a cannot be used: the name of a source's file is missing"),
      (
        "a=file:/etc/passwd",
        "the source a cannot be used: "
          + "the file /etc/passwd must be relative to the folder of the sources"
      ),
      (
        "a=file:///etc/passwd",
        "the source a cannot be used: "
          + "the file ///etc/passwd must be relative to the folder of the sources"
      ),
      (
        "a=file:../b",
        "the source a cannot be used: the file ../b must not be outside of the folder of the sources"
      ),
      // A slash and a combining accent are one character, but two bytes of a path.
      (
        "a=file:../\u{301}b",
        "the source a cannot be used: "
          + "the file ../\u{301}b must not be outside of the folder of the sources"
      ),
      (
        "a=file:/\u{301}b",
        "the source a cannot be used: "
          + "the file /\u{301}b must be relative to the folder of the sources"
      ),
    ])
  func refused(text: String, message: String) {
    #expect(throws: SourceError(message)) { try SourceArgument(text) }
    #expect(!message.contains("secret"))
  }

  @Test("an argument becomes a source over HTTP or of a file")
  func sources() async throws {
    try await TestFolder.making { folder in
      try folder.write("note", to: "notes.txt")
      try await withClient { client in
        try await TestServer.serving { visitor in
          try await visitor.respond("200 OK\r\nContent-Type: application/json", text: "[1]")
        } while: { server in
          let sources = try SourceArgument.sources(
            [
              SourceArgument("user=http://127.0.0.1:\(server.port)/"),
              SourceArgument("notes=file:notes.txt"),
            ], folder: folder.path, client: client)
          #expect(sources["other"] == nil)
          #expect(try await sources["user"]?.loaded().value == "[1]")
          #expect(try await sources["notes"]?.loaded().value == #""note""#)
        }
      }
    }
  }

  @Test("a source has the maximum size that the operator sets")
  func limit() async throws {
    try await TestFolder.making { folder in
      try folder.write("note", to: "notes.txt")
      let sources = try SourceArgument.sources(
        [SourceArgument("notes=file:notes.txt")], folder: folder.path, client: RemoteClient(),
        maximumBytes: 3)
      #expect(try await sources["notes"]?.loaded().failure == "source.tooLarge")
    }
  }

  @Test("a name that is used twice or a file that cannot be used is refused")
  func clash() async throws {
    try await TestFolder.making { folder in
      try folder.makeFolder("a")
      func sources(_ texts: String...) throws -> LoadingSources {
        try SourceArgument.sources(
          SourceArgument.all(texts), folder: folder.path, client: RemoteClient())
      }
      #expect(throws: SourceError("two sources have the name a")) {
        try sources("a=file:b", "a=http://c")
      }
      #expect(try sources("a=file:b", "A=file:b")["A"] != nil)
      #expect(
        throws: SourceError(
          "the source x cannot be used: "
            + "a in \(folder.path) is not a regular file, or its path contains a link")
      ) { try sources("x=file:a") }
    }
  }
}
