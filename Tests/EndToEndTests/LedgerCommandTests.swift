// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@Suite("Ledger commands", .timeLimit(.minutes(15)))
struct LedgerCommandTests {
  private func ledger(_ words: String..., in folder: TestFolder) throws -> ProgramResult {
    try Program.run(["ledger"] + words + ["--data-dir", folder.path], input: "")
  }

  @Test("ledger post accepts negative amounts, and ledger balance prints the exact sum")
  func posting() throws {
    let folder = try TestFolder()
    let empty = try ledger("balance", in: folder)
    #expect(empty.status == 0)
    #expect(empty.output.hasPrefix("0 2"))
    for (amount, sum) in [
      ("10.10", "10.1"), ("-5.25", "4.85"), ("-4.85", "0"), ("-1e-2", "-0.01"), ("-0", "-0.01"),
    ] {
      let posted = try ledger("post", amount, in: folder)
      #expect(posted.status == 0, "\(posted.errors)")
      #expect(posted.output == "")
      #expect(posted.errors == "")
      let balance = try ledger("balance", in: folder)
      #expect(balance.output.hasPrefix("\(sum) 2"), "\(balance.output)")
      #expect(balance.output.hasSuffix("Z\n"))
    }
    // Options before the amount, with and without `--`.
    let place = ["ledger", "post", "--data-dir", folder.path]
    #expect(try Program.run(place + ["-5.25"], input: "").status == 0)
    #expect(try Program.run(place + ["--", "-5.25"], input: "").status == 0)
    #expect(try ledger("balance", in: folder).output.hasPrefix("-10.51 2"))
  }

  @Test(
    "an invalid amount causes a one-sentence error",
    arguments: [
      ([], "Pass one amount, for example 12.50 or -5.25."),
      (["1", "2"], "Pass one amount, for example 12.50 or -5.25."),
      (["abc"], "abc is not an amount; pass one like 12.50 or -5.25."),
      (["1,5"], "1,5 is not an amount; pass one like 12.50 or -5.25."),
      (["NaN"], "NaN is not an amount; pass one like 12.50 or -5.25."),
      (["+1"], "+1 is not an amount; pass one like 12.50 or -5.25."),
      (["-x"], "-x is not an amount; pass one like 12.50 or -5.25."),
      (["--amount"], "--amount is not an amount; pass one like 12.50 or -5.25."),
    ])
  func junk(_ words: [String], _ expected: String) throws {
    let folder = try TestFolder()
    let result = try Program.run(
      ["ledger", "post"] + words + ["--data-dir", folder.path], input: "")
    #expect(result.status == 1)
    #expect(result.output == "")
    #expect(result.errors == "Error: \(expected)\n")
    #expect(try ledger("balance", in: folder).output.hasPrefix("0 "))
  }

  @Test(
    "a folder without a ledger causes a one-sentence error",
    arguments: [["balance"], ["post", "-1"]])
  func noDatabase(_ words: [String]) throws {
    let result = try Program.run(
      ["ledger"] + words + ["--data-dir", "/dev/null/x"], input: "")
    #expect(result.status == 1)
    #expect(result.output == "")
    #expect(result.errors == "Error: The folder /dev/null/x cannot be created: Not a directory.\n")
  }
}
