// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Logging
import ProcessStores
import Testing

@testable import StatewireServer

@Suite("Configuration from options, environment and file")
struct ConfigurationTests {
  enum All: ServerProgram { static let kinds = ServerKinds.builtin }

  static let options = ServeOption.all(hasBuiltin: true)

  static func effective(
    _ words: [String] = [], environment: [String: String] = [:], yaml: String? = nil
  ) throws -> EffectiveOptions {
    let line = try #require(CommandLineOptions(words: words, hasBuiltin: true))
    let file = yaml.map { ConfigurationFile("s.yaml", text: $0, options) }
    return EffectiveOptions(line, environment: environment, file, options)
  }

  static func text(_ effective: EffectiveOptions) -> String {
    CommandLineTests.text(effective.options)
  }

  @Test("each option is on the command line, in the environment and in the file")
  func everywhere() throws {
    let unset = Self.text(try Self.effective())
    for option in Self.options {
      // A value that the option accepts and that is not the default.
      let values = ["a=b", "127.0.0.1:5"] + CommandLineTests.values
      var found: (word: String, text: String)?
      for value in values where !value.hasPrefix("-") && !value.hasPrefix("@") {
        let words = option.kind == .flag ? ["--\(option.name)"] : ["--\(option.name)", value]
        guard CommandLineOptions(words: words, hasBuiltin: true) != nil else { continue }
        let text = Self.text(try Self.effective(words))
        if text != unset {
          found = (option.kind == .flag ? "true" : value, text)
          break
        }
      }
      let (word, text) = try #require(found, "no value for --\(option.name)")
      let environment = try Self.effective(environment: [option.variable: word])
      #expect(environment.faults.isEmpty && Self.text(environment) == text, "\(option.variable)")
      guard option.isInFile else {
        // A file cannot name another one; that is the only exception.
        #expect(option.name == "config")
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1)
      let yaml =
        option.mappingKey == nil
        ? "\(option.key): '\(word)'" : "\(option.key): {\(parts[0]): '\(parts.last!)'}"
      let file = try Self.effective(yaml: yaml)
      #expect(file.faults.isEmpty && Self.text(file) == text, "\(yaml)")
    }
  }

  @Test("the command line precedes the environment, and the environment the file")
  func precedence() throws {
    let yaml = """
      maximum-depth: 1
      maximum-stores: 1
      idle-time: 1
      watch: true
      tcp: [127.0.0.1:1, 127.0.0.1:2]
      stores: {a: one, b: two, c: three}
      """
    let environment = [
      "STATEWIRE_MAXIMUM_DEPTH": "2", "STATEWIRE_MAXIMUM_STORES": "2", "STATEWIRE_WATCH": "false",
      "STATEWIRE_STORE": "b=other, d=e\\,f", "STATEWIRE_TCP": "", "STATEWIRE_NODE": "n",
    ]
    let options = try Self.effective(
      ["--maximum-depth", "3", "--tcp", "127.0.0.1:9", "--store", "c=mine"],
      environment: environment, yaml: yaml
    ).options
    #expect(options.limits.depth == 3 && options.sessions.storesPerSession == 2)
    #expect(options.limits.idleTime == .seconds(1) && !options.watchesStores)
    #expect(options.tcp.map(\.port) == [9] && options.node == "n")
    #expect(options.stores == ["a=one", "b=other", "d=e,f", "c=mine"])
    let replaced = try Self.effective(
      ["--database-file", "f"], environment: ["STATEWIRE_DATABASE": "x"]
    ).options
    #expect(replaced.database == nil && replaced.databaseFile == "f")
  }

  @Test(
    "a mistake is named with file, line, key and what is allowed",
    arguments: [
      ("\ntpc: 1", ["s.yaml:2: tpc: unknown key; did you mean 'tcp'?"]),
      ("data_dir: x", ["s.yaml:1: data_dir: unknown key; did you mean 'data-dir'?"]),
      ("nothing-like-it: x", ["s.yaml:1: nothing-like-it: unknown key; serve --help lists"]),
      ("config: x", ["s.yaml:1: config: this option cannot be in a configuration file"]),
      (
        "maximum-depth: 1001",
        [#"s.yaml:1: maximum-depth: "1001" cannot be used; allowed: a whole number from 1 to 1000"#]
      ),
      (
        "maximum-depth: [1]",
        ["s.yaml:1: maximum-depth: one value is required; allowed: a whole number from 1 to 1000"]
      ),
      ("stdio: yes", [#"s.yaml:1: stdio: "yes" cannot be used; allowed: true or false"#]),
      ("idle-time:", ["s.yaml:1: idle-time: one value is required; allowed: seconds from 0"]),
      ("tcp: {a: b}", ["s.yaml:1: tcp: a value or a list is required; allowed in it: HOST:PORT"]),
      ("tcp: [::1]:80", ["s.yaml:1: not YAML: "]),
      ("a: 1\nb: 2\na: 3", ["s.yaml:1: the key 'a' occurs twice"]),
      ("tcp: &x 127.0.0.1:1", ["s.yaml:1: anchors are not supported"]),
      ("- a", ["s.yaml:1: the file must be a mapping from options to values"]),
      (
        "stores: {a: {command: \"'\"}}",
        ["stores.a.command: \"'\" cannot be used; allowed: a command"]
      ),
      (
        "stores: {a: {folder: /x}}",
        ["s.yaml:1: stores.a: no command; add command, or pass --store a="]
      ),
      (
        "stores:\n  a:\n    command: x\n    memory-byte: 1\n    processes: 0",
        [
          "s.yaml:4: stores.a.memory-byte: unknown key; did you mean 'memory-bytes'?",
          #"s.yaml:5: stores.a.processes: "0" cannot be used; allowed: a whole number from 1 to 256"#,
        ]
      ),
      (
        "log-level: loud\nmaximum-depth: x\nlease: -1",
        ["s.yaml:1: log-level", "s.yaml:2: maximum-depth", "s.yaml:3: lease"]
      ),
      ("token-file: credential:x", ["s.yaml:1: token-file: CREDENTIALS_DIRECTORY is not set"]),
    ])
  func faults(_ yaml: String, _ expected: [String]) throws {
    let faults = try Self.effective(yaml: yaml).faults
    #expect(faults.count == expected.count, "\(faults)")
    for (fault, text) in zip(faults, expected) { #expect(fault.contains(text), "\(fault)") }
  }

  @Test("a mistake in the environment names the variable")
  func environmentFaults() throws {
    let faults = try Self.effective(environment: ["STATEWIRE_LEASE": "x", "STATEWIRE_TEST": "1"])
      .faults
    #expect(
      faults == [
        #"STATEWIRE_LEASE: "x" cannot be used; allowed: seconds from 0 to 1000000000"#,
        #"STATEWIRE_TEST: "1" cannot be used; allowed: true or false"#,
      ])
  }

  @Test("each property of a store program has a key in the file")
  func programProperties() throws {
    let command = Mirror(reflecting: ProgramCommand(words: ["x"])).children.compactMap(\.label)
    let kind = Mirror(reflecting: ProgramKind("n", ProgramCommand(words: ["x"]))).children
      .compactMap(\.label)
    // The server sets the folders that are not watched; name and command are where they are.
    let properties =
      command.filter { $0 != "unwatched" } + kind.filter { $0 != "name" && $0 != "command" }
    #expect(ProgramSetting.all.map(\.property).sorted() == properties.sorted())
    #expect(kind == ["name", "command", "processes", "scope"])
  }

  @Test("a store program has its command, environment, folder and limits from the file")
  func programs() throws {
    let options = try Self.effective(
      ["--data-dir", "d"],
      yaml: """
        watch: true
        stores:
          plain: python3 'a b.py'
          words: {command: [python3, "it's", a b], watch: false}
          all:
            command: program
            environment: {MODE: no, EMPTY: }
            folder: /srv
            time-limit: 2.5
            memory-bytes: 1024
            process-limit: 7
            processes: 3
          mine: {command: program, shared: identity}
          ours: {command: program, shared: everyone}
        """
    ).options
    let kinds = try options.programKinds()
    let found = Dictionary(uniqueKeysWithValues: kinds.map { ($0.name, $0) })
    #expect(found["plain"]?.command.words == ["python3", "a b.py"])
    #expect(found["plain"]?.command.isWatched == true && found["words"]?.command.isWatched == false)
    #expect(found["words"]?.command.words == ["python3", "it's", "a b"])
    let all = try #require(found["all"])
    #expect(all.command.environment == ["MODE": "no", "EMPTY": ""] && all.command.folder == "/srv")
    #expect(all.command.timeLimit == .seconds(2.5) && all.command.memoryBytes == 1024)
    #expect(all.command.processes == 7 && all.processes == 3 && all.command.unwatched == ["d"])
    guard case .session? = found["all"]?.scope, case .shared(.everyone, _)? = found["ours"]?.scope,
      case .shared(.identity, _)? = found["mine"]?.scope
    else {
      Issue.record("the scopes are \(kinds.map(\.scope))")
      return
    }
  }

  @Test(
    "shared stores of a program need one shard of one node",
    arguments: ["shards: 2", "database: postgres://h/d"])
  func sharedPrograms(other: String) throws {
    let options = try Self.effective(
      yaml: "stores:\n  board: {command: program, shared: everyone}\n\(other)"
    ).options
    #expect(throws: ValidationError.self) { try options.programKinds() }
  }

  @Test("credentials of systemd are files in their folder")
  func credentials() throws {
    let options = try Self.effective(
      environment: ["CREDENTIALS_DIRECTORY": "/run/c", "STATEWIRE_TLS_KEY": "credential:key"],
      yaml: "token-file: credential:tokens\nnode-secret-file: /etc/secret")
    #expect(options.faults.isEmpty && options.options.tokenFile == "/run/c/tokens")
    #expect(
      options.options.tlsKey == "/run/c/key" && options.options.nodeSecretFile == "/etc/secret")
    for name in ["", "..", "a/b"] {
      let faults = try Self.effective(
        environment: ["CREDENTIALS_DIRECTORY": "/run/c"], yaml: "tls-key: 'credential:\(name)'"
      ).faults
      #expect(faults.count == 1 && faults[0].contains("NAME has no slash"), "\(faults)")
    }
  }

  @Test("the check prints each option with its source, and no secret")
  func listing() throws {
    try withTemporaryFile(
      """
      tcp: 127.0.0.1:1
      sources: {feed: https://h/?key=hidden1, local: file:x.txt}
      database: postgres://u:hidden2@h/d
      stores:
        a: {command: program, environment: {KEY: hidden3}}
      """
    ) { path in
      let line = try #require(
        CommandLineOptions(
          words: ["--config", path, "--maximum-depth", "9", "--data-dir", "d"], hasBuiltin: true))
      let check = ConfigurationCheck(
        line,
        environment: [
          "STATEWIRE_BALANCE_URL": "https://h/?key=hidden4", "STATEWIRE_TPC": "hidden5",
          "STATEWIRE_ADMIN": "1.2.3.4:5",
        ], of: All.self)
      let all = ([check.listing] + check.faults + check.warnings).joined(separator: "\n")
      #expect(!all.contains("hidden"), "\(all)")
      for (start, end) in [
        ("  - 127.0.0.1:1", "# file \(path):1"), ("maximum-depth: 9", "# option"),
        ("balance-url: \"[redacted]\"", "# environment STATEWIRE_BALANCE_URL"),
        ("  local: file:x.txt", "# file \(path):2"), ("lease: 5", "# default"),
        ("      KEY: \"[redacted]\"", "# file \(path):5"), ("# token-file:", "# not set"),
      ] {
        let lines = check.listing.split(separator: "\n").filter { $0.hasPrefix(start) }
        #expect(lines.count == 1 && lines.first?.hasSuffix(end) == true, "\(start): \(lines)")
      }
      for option in Self.options { #expect(check.listing.contains("\(option.key):")) }
      // All mistakes at the same time.
      #expect(check.faults.count == 2, "\(check.faults)")
      #expect(check.faults.contains { $0.contains("cannot be used together") })
      #expect(
        check.faults.contains {
          $0.contains("--admin 1.2.3.4:5 would be reachable") && $0.contains("--admin-token-file")
        })
      #expect(check.warnings.contains { $0.contains("STATEWIRE_TPC") && $0.contains("ignored") })
    }
  }

  @Test("the output of the check can be read again")
  func listingIsConfiguration() throws {
    let yaml = """
      tcp: ["[::1]:1", 127.0.0.1:2]
      content-security-policy: "default-src 'self'; x: # y"
      node: "null"
      unix: ["- a", "é\\n"]
      time-zone: -02:00
      stores: {a: {command: [x, "it's"], processes: 2}}
      """
    let first = try Self.effective(yaml: yaml)
    #expect(first.faults.isEmpty)
    let listing = ConfigurationListing(first, Self.options, try first.options.programKinds()).text
    let second = try Self.effective(yaml: listing)
    #expect(second.faults.isEmpty, "\(second.faults)")
    #expect(second.options.tcp == first.options.tcp && second.options.unix == first.options.unix)
    #expect(second.options.node == "null" && second.options.zone != nil)
    #expect(second.options.contentSecurityPolicy == first.options.contentSecurityPolicy)
    #expect(try second.options.programKinds().first?.processes == 2)
    for option in Self.options where option.standard() != nil {
      #expect(listing.contains("\(option.key): "), "\(option.key)")
    }
  }

  @Test("the example of the repository has no mistakes, and only options that exist")
  func example() throws {
    let path = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Examples/statewire.yaml").standardized.path
    let line = try #require(CommandLineOptions(words: ["--config", path], hasBuiltin: true))
    let check = ConfigurationCheck(line, environment: [:], of: All.self)
    #expect(check.faults.isEmpty, "\(check.faults)")
    // Lines that are commented out are valid, too.
    let text = try String(contentsOfFile: path, encoding: .utf8).replacing(
      try Regex("(?m)^#(?=[a-z -]+:( |$)|  )"), with: "")
    let everything = ConfigurationFile("example", text: text, Self.options)
    #expect(everything.faults.isEmpty, "\(everything.faults)")
    #expect(everything.settings.count > 15, "\(everything.settings.keys)")
  }

  private func withTemporaryFile(_ text: String, _ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
    try Data(text.utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(path)
  }
}
