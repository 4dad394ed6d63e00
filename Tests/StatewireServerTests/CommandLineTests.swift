// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing

@testable import StatewireServer

/// The story: a frontend that starts the program waits for its first response, and half of this
/// time was spent in ArgumentParser. The two parsers of the command line must agree.
@Suite("Command line without ArgumentParser")
struct CommandLineTests {
  private enum All: ServerProgram { static let kinds = ServerKinds.builtin }

  private static let options = ServeOptionTests.options

  /// Values that some options accept, or none.
  static let values = [
    "1", "0", "7", "-1", "+5", "1.5", "1e3", "nan", "x", "", "-", "--", "-x", "--tcp", "--help",
    "a=b",
    "127.0.0.1:0", "tcp://[::1]:5", "localhost:80", "+02:00", "-02:00", "UTC", "debug", "Debug",
    "process", "power", "json", "s=file:a.txt", "s=@file", "@file", "http://h/x", "http://u:p@h",
    "a b",
    "-h", "\u{301}", "=", "99999999999999999999", "1000", "1001",
  ]

  private func quick(_ words: [String]) -> ServeOptions? {
    CommandLineOptions(words: words, hasBuiltin: true)?.options
  }

  private func slow(_ words: [String]) -> ServeOptions? {
    try? (RootCommand<All>.parseAsRoot(["serve"] + words) as? ServeCommand<All>)?.options()
  }

  /// Compares the results of both parsers. A time zone is a function, so only its presence is
  /// compared.
  private func check(_ words: [String]) {
    guard let quick = quick(words) else {
      Issue.record("\(words) is left to ArgumentParser")
      return
    }
    guard let slow = slow(words) else {
      Issue.record("\(words) is refused by ArgumentParser")
      return
    }
    #expect(Self.text(quick) == Self.text(slow), "\(words)")
  }

  static func text(_ options: ServeOptions) -> String {
    var options = options
    let zone = options.zone.map { _ in "zone" } ?? "none"
    options.zone = nil
    // The place of a value is not a value.
    options.databasePlace = nil
    var text = ""
    dump(options, to: &text)
    return text + zone
  }

  /// Checks everything that is parsed without ArgumentParser. One line has many options, because
  /// ArgumentParser takes a tenth of a second for a line.
  @Test("ArgumentParser parses the same command lines with the same results")
  func isTheSame() {
    var numbers = SystemRandomNumberGenerator()
    var pieces: [[String]] = []
    for option in Self.options {
      let name = "--\(option.name)"
      let all = [[name]] + Self.values.flatMap { [[name, $0], ["\(name)=\($0)"]] }
      let accepted = all.filter { quick($0) != nil }
      #expect(!accepted.isEmpty, "\(name)")
      pieces += accepted
    }
    pieces.shuffle(using: &numbers)
    while !pieces.isEmpty {
      var words: [String] = []
      for piece in pieces.suffix(40) {
        // Two sources must not have the same name, and there is only one balance.
        if quick(words + piece) != nil { words += piece }
      }
      pieces.removeLast(min(40, pieces.count))
      check(words)
    }
  }

  @Test(
    "ArgumentParser handles help and mistakes",
    arguments: [
      ["--help"], ["-h"], ["--version"], ["x"], ["--tcp"], ["--tcp", "--stdio"], ["--stdio=1"],
      ["--maximum-depth", "0"], ["--source", "nonsense"], ["--balance-url", "nonsense"], ["--"],
      ["--unix", ""], ["--generate-completion-script", "bash"],
    ])
  func others(words: [String]) { #expect(quick(words) == nil) }
}
