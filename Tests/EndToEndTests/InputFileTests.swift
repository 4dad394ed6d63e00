// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("Files on the command line", .timeLimit(.minutes(15)))
struct InputFileTests {
  @Test(
    "input files may be pipes",
    arguments: [
      ("printf '[1]' | $statewire json check /dev/stdin", "/dev/stdin: ok\n"),
      (
        "(printf '['; head -c 200000 /dev/zero | tr '\\0' ' '; printf '1]') | $statewire json check -",
        "-: ok\n"
      ),
      ("$statewire json canonical <(printf '[1.0]')", "[1]"),
      (
        "$statewire json diff <(printf '[1]') <(printf '[1,2]')",
        #"[{"op":"add","path":"/1","value":2}]"# + "\n"
      ),
      (
        "mkfifo p; (printf '[1]' >p &) ; $statewire json patch p <(printf '[]')", "[1]\n"
      ),
      (
        // More bytes than a pipe buffers.
        "(printf '['; head -c 300000 /dev/zero | tr '\\0' ' '; printf ']') | $statewire json canonical /dev/stdin",
        "[]"
      ),
    ])
  func pipes(_ script: String, _ expected: String) throws {
    let result = try Program.script(script, in: TestFolder())
    #expect(result.output == expected, "\(result)")
    #expect(result.status == 0)
  }

  @Test("conversations may be pipes, which are not updated")
  func conversations() throws {
    let folder = try TestFolder()
    try """
    --> {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    <-- {"jsonrpc": "2.0", "id": 1, "result": 0}

    """.write(toFile: folder.path + "/wrong", atomically: true, encoding: .utf8)
    var result = try Program.script("$statewire play <(sed 's/ 0}/ {}}/' wrong)", in: folder)
    #expect(result.output.hasSuffix("1 passed, 0 failed\n"), "\(result)")
    result = try Program.script("UPDATE_CONVERSATIONS=1 $statewire play <(cat wrong)", in: folder)
    #expect(result.output.contains("it is not a regular file"), "\(result)")
    #expect(result.status == 2)
  }

  @Test(
    "the error states why a file cannot be read",
    arguments: [
      ("json check none", "none: cannot be read: No such file or directory"),
      ("json canonical .", ".: cannot be read: Is a directory"),
      ("json diff none none", "none: cannot be read: No such file or directory"),
      ("play none", "none: cannot be read: No such file or directory"),
      ("play .", ".: cannot be read: Is a directory"),
      ("json check /dev/zero", "/dev/zero: cannot be read: it has more than 1073741824 bytes"),
      ("serve --token-file /dev/zero", "it has more than 16777216 bytes"),
      ("serve --token-file .", "cannot be read: Is a directory"),
    ])
  func reasons(_ arguments: String, _ expected: String) throws {
    let result = try Program.script("$statewire \(arguments)", in: TestFolder())
    #expect((result.output + result.errors).contains(expected), "\(result)")
    #expect(result.status != 0)
  }
}
