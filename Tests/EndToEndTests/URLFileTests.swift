// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import StatewireServer

/// The story: every user of the machine could see the key in a URL of `--source` with `ps`.
@Suite("URL files", .timeLimit(.minutes(15)))
struct URLFileTests {
  private static let load = [
    #"{"jsonrpc":"2.0","id":1,"method":"store/open","params":{"store":"l","kind":"loading","#
      + #""config":{"type":"source","name":"a"}}}"#,
    #"{"jsonrpc":"2.0","id":2,"method":"store/subscribe","params":{"store":"l"}}"#,
    #"{"jsonrpc":"2.0","id":3,"method":"store/send","params":{"store":"l","settle":true,"#
      + #""input":{"type":"load"}}}"#,
  ].joined(separator: "\n")

  private func folder(url: String, mode: mode_t = 0o600) throws -> TestFolder {
    let folder = try TestFolder()
    try "content".write(
      to: folder.url.appending(path: "notes.txt"), atomically: true, encoding: .utf8)
    try url.write(to: folder.url.appending(path: "url"), atomically: true, encoding: .utf8)
    chmod(folder.path + "/url", mode)
    return folder
  }

  @Test(
    "a source can read its URL from a file", arguments: ["file:notes.txt", "file:notes.txt \r\n\n"])
  func source(_ url: String) throws {
    let folder = try folder(url: url)
    let result = try Program.run(
      [
        "serve", "--data-dir", folder.path, "--source-dir", folder.path, "--source",
        "a=@\(folder.path)/url",
      ], input: Self.load)
    #expect(result.output.contains("content"), "\(result)")
    #expect(result.errors == "")
  }

  @Test("a source can read its URL from a pipe, which is read once")
  func pipe() throws {
    let folder = try folder(url: "")
    try Self.load.write(
      to: folder.url.appending(path: "input"), atomically: true, encoding: .utf8)
    let result = try Program.script(
      """
      "$statewire" serve --data-dir . --source a=@<(echo file:notes.txt) \
        --balance-url @<(echo http://127.0.0.1:1/?key=k) < input
      """, in: folder)
    #expect(result.output.contains("content"), "\(result)")
    #expect(result.errors == "")
  }

  @Test("a URL file that other users can read causes a warning")
  func exposed() throws {
    let folder = try folder(url: "http://127.0.0.1:1/?key=SECRET", mode: 0o644)
    for option in ["--balance-url=@", "--source=a=@"] {
      let result = try Program.run(
        ["serve", "--data-dir", folder.path, "\(option)\(folder.path)/url"], input: "")
      #expect(result.status == 0)
      #expect(
        result.errors.contains("other users may read or change the URL in \(folder.path)/url"))
      #expect(!result.errors.contains("SECRET"))
    }
  }

  @Test(
    "an unusable URL causes a one-sentence error that does not quote it",
    arguments: [
      ("SECRET", "must start with"), ("http://h/SECRET\nSECRET", "percent-encode"),
      ("", "must start with"),
    ])
  func unusable(_ url: String, _ expected: String) throws {
    let folder = try folder(url: url)
    for option in ["--balance-url=@", "--source=a=@"] {
      let result = try Program.run(
        ["serve", "--data-dir", folder.path, "\(option)\(folder.path)/url"], input: "")
      #expect(result.status != 0)
      #expect(result.errors.contains(expected), "\(result.errors)")
      #expect(!result.errors.contains("SECRET"), "\(result.errors)")
      let missing = try Program.run(["serve", "\(option)/none"], input: "")
      #expect(missing.status != 0)
      #expect(
        missing.errors.contains("the URL in /none cannot be read: No such file or directory"))
    }
  }

  @Test(
    "only a value that begins with @ names a file",
    arguments: [
      ("@a", false, "a"), ("a=@b", true, "b"), ("a=http://h/?x=@b", true, nil),
      ("http://h/?x=@b", false, nil), ("@a", true, nil), ("a=@", true, ""), ("", false, nil),
      ("@\u{301}a", false, "\u{301}a"),
    ] as [(String, Bool, String?)])
  func paths(_ value: String, _ hasName: Bool, _ path: String?) {
    #expect(URLFiles.path(in: value, hasName: hasName) == path)
  }
}
