// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logging
import SQLiteFiles
import Testing
import Transports

@testable import StatewireServer

@Suite("Options of serve")
struct ServeOptionTests {
  private enum All: ServerProgram { static let kinds = ServerKinds.builtin }
  private enum Own: ServerProgram { static let kinds: ServerKinds = [] }

  static let options = ServeOption.all(hasBuiltin: true)

  @Test("each option has a unique name, and the help contains all of them")
  func help() {
    #expect(Set(Self.options.map(\.name)).count == Self.options.count)
    let help = RootCommand<All>.helpMessage(for: ServeCommand<All>.self, columns: 100)
    for option in Self.options { #expect(help.contains("--\(option.name)"), "\(option.name)") }
    for text in [
      "--tcp <host:port>", "--unix <path>", "--data-dir <folder>", "--log-level <level>",
      "--maximum-frame-bytes <bytes>", "--maximum-connections <count>", "--idle-time <seconds>",
    ] { #expect(help.contains(text), "\(text)") }
    #expect(Self.options.allSatisfy { ($0.kind == .flag) == ($0.valueName == nil) })
    // A newcomer reads the top; limits come last.
    let titles = ["COMMON OPTIONS:", "SECURITY:", "LOGS:", "SEVERAL NODES:", "LIMITS:", "OPTIONS:"]
    let lines = help.split(separator: "\n").map(String.init)
    let places = titles.compactMap { lines.firstIndex(of: $0) }
    #expect(places.count == titles.count && places == places.sorted())
    let first = places.first.map { lines[$0 + 1] }
    #expect(first?.contains("--tcp <host:port>") == true, "\(first ?? "")")
    let own = RootCommand<Own>.helpMessage(for: ServeCommand<Own>.self)
    #expect(own.contains("--maximum-depth") && !own.contains("--maximum-todos"))
  }

  @Test("each option sets its value")
  func values() throws {
    let options = try ServeCommand<All>.parse([
      "--tcp", "127.0.0.1:1", "--tcp=[::1]:2", "--unix", "a", "--stdio", "--log-level", "debug",
      "--maximum-depth", "7", "--frame-time", "0", "--idle-time", "1.5", "--time-zone", "-02:00",
      "--maximum-inputs-per-second", "0", "--maximum-bytes-per-second", "9", "--session-time", "0",
      "--maximum-connections-per-address", "3", "--durability", "power", "--data-dir", "d",
    ]).options()
    #expect(options.tcp.map(\.port) == [1, 2] && options.tcp[1].host == "::1")
    #expect(options.unix == ["a"] && options.stdio && !options.isTest)
    #expect(options.logLevel == .debug && options.limits.depth == 7)
    #expect(options.limits.frameTime == nil && options.limits.idleTime == .seconds(1.5))
    #expect(options.zone != nil && options.limits.inputsPerSecond == nil)
    #expect(options.limits.bytesPerSecond == 9 && options.sessions.timeToLive == .zero)
    #expect(options.limits.connectionsPerAddress == 3)
    #expect(options.durability == .power && options.dataFolder == "d")
  }

  @Test(
    "options of several nodes are refused where they cannot be used, without a password",
    arguments: [
      (["--node", "a"], "--node requires --database"),
      (["--tcp", "127.0.0.1:1", "--advertise", "h:1"], "--advertise requires --database"),
      (["--database", "postgres://u:pw@h/d"], "--database requires --tcp"),
      (
        ["--database", "postgres://u:pw@h/d", "--tcp", "127.0.0.1:1", "--data-dir", "d"],
        "--database and --data-dir cannot be used together"
      ),
      (
        ["--database", "postgres://u:pw@h/d", "--tcp", "127.0.0.1:1", "--test"],
        "--database cannot be used with --test"
      ),
      (
        ["--database", "x", "--database-file", "y", "--tcp", "127.0.0.1:1"],
        "--database and --database-file cannot be used together"
      ),
      (
        ["--database", "postgres://u:pw@h/d", "--tcp", "127.0.0.1:1", "--lease", "0.1"],
        "--lease must be at least 0.5 seconds"
      ),
      (
        ["--database", "postgres://u:pw@h/d", "--tcp", "127.0.0.1:0"],
        "--database requires --advertise"
      ),
      (
        [
          "--database", "postgres://u:pw@h/d", "--tcp", "127.0.0.1:1", "--advertise", "10.0.0.1:1",
        ], "would not be encrypted"
      ),
      (
        ["--database-file", "/nonexistent/file", "--tcp", "127.0.0.1:1"],
        "cannot read the address of the database in /nonexistent/file"
      ),
    ])
  func nodes(_ words: [String], _ message: String) throws {
    let options = try ServeCommand<Own>.parse(words).options()
    let error = #expect(throws: StartupError.self) {
      try options.configuration(of: Own.self, logger: Logger(label: "test"))
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("pw") != true)
  }

  @Test("the database is in an option, a file or the environment")
  func database() throws {
    let line = try ServeCommand<Own>.parse(["--tcp", "127.0.0.1:7227"]).arguments.given()
    let listeners = [ServerAddress.tcp(host: "127.0.0.1", port: 7227)]
    func cluster(_ environment: [String: String]) throws -> ClusterConfiguration? {
      let effective = EffectiveOptions(line, environment: environment, hasBuiltin: false)
      return try effective.options.cluster(listeners, Logger(label: "test"))
    }
    #expect(try cluster([:]) == nil)
    let cluster = try cluster(["STATEWIRE_DATABASE": "postgres://u:pw@h/d"])
    #expect(cluster?.name == "127.0.0.1:7227" && cluster?.address == listeners[0])
    #expect(cluster?.lease == .seconds(5))
    #expect(cluster.map { "\($0)".contains("pw") } == false)
  }

  @Test(
    "an option refuses an invalid value with a sentence that names the option",
    arguments: [
      (["--maximum-depth", "0"], "--maximum-depth: The limit must be at least 1."),
      (["--maximum-depth", "1001"], "--maximum-depth: The limit must be at most 1000."),
      (
        ["--maximum-depth", "x"], "The value 'x' is invalid for '--maximum-depth <count>'."
      ),
      (["--shards", "0"], "--shards: The limit must be at least 1."),
      (["--shards", "9223372036854775807"], "--shards: The limit must be at most 256."),
      (["--history-bytes", "-1"], "--history-bytes: The limit must be at least 0."),
      (["--idle-time", "nan"], "--idle-time: The time must be from 0 to 1000000000 seconds"),
      (["--log-level", "loud"], "--log-level: 'loud' is not one of trace, debug, info"),
      (["--durability", "none"], "--durability: 'none' is not one of process, power."),
      (["--tcp", "nonsense"], "The value 'nonsense' is invalid for '--tcp <host:port>'."),
      (["--tpc", "1"], "Unknown option '--tpc'. Did you mean '--tcp'?"),
      (["--tcp"], "Missing value for '--tcp <host:port>'"),
    ])
  func faults(words: [String], expected: String) {
    do {
      _ = try ServeCommand<All>.parse(words)
      Issue.record("\(words) was accepted")
    } catch {
      let message = ServeCommand<All>.message(for: error)
      #expect(message.contains(expected), "\(message)")
    }
  }
}
