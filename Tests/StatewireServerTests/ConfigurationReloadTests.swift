// SPDX-License-Identifier: Apache-2.0

import Logging
import ProcessStores
import StateMachines
import Testing

@testable import StatewireServer

@Suite("Reload of the configuration")
struct ConfigurationReloadTests {
  /// A server that has started with one file, and then reads others.
  private struct World {
    let log: LogSettings
    let lines = Lock<[String]>([])
    let next: Lock<EffectiveOptions>
    let reload: ConfigurationReload

    init(_ yaml: String) throws {
      let start = try ConfigurationTests.effective(yaml: yaml)
      let (lines, next) = (lines, Lock(start))
      self.next = next
      log = LogSettings(level: start.options.logLevel, format: start.options.logFormat)
      reload = ConfigurationReload(
        start, log,
        Logger(label: "test") { _ in LogLines { line in lines.withLock { $0.append(line) } } }
      ) {
        next.withLock { $0 }
      }
    }

    /// Reloads a file; returns the log and the paths of secrets.
    func read(_ yaml: String) throws -> (
      lines: [String], files: Secrets.Files, programs: [ProgramKind]
    ) {
      let new = try ConfigurationTests.effective(yaml: yaml)
      next.withLock { $0 = new }
      let changes = reload.reload()
      return (
        lines.withLock { lines in
          defer { lines = [] }
          return lines
        }, changes.files, changes.programs
      )
    }
  }

  @Test("one line names what has changed, and one what needs a restart")
  func lines() throws {
    let world = try World("log-level: notice\ntcp: 127.0.0.1:1\nstores: {a: {command: x}}")
    let first = try world.read(
      "log-level: debug\nlog-format: json\ntcp: 127.0.0.1:2\nstores: {a: {command: x, processes: 2}}"
    )
    #expect(
      first.lines == [
        "notice: reloaded the configuration; changed: log-format, log-level",
        "warning: these changes of the configuration need a restart of the server: stores.a.processes, tcp",
      ])
    #expect(world.log.level == .debug && world.log.format == .json)
    // Changes that need a restart are named again until the file is as at the start.
    let second = try world.read(
      "log-level: debug\nlog-format: json\ntcp: 127.0.0.1:2\nstores: {a: {command: x}}")
    #expect(
      second.lines == [
        "notice: reloaded the configuration; changed: nothing",
        "warning: these changes of the configuration need a restart of the server: tcp",
      ])
    let third = try world.read("tcp: 127.0.0.1:1\nstores: {a: x}")
    #expect(
      third.lines == ["notice: reloaded the configuration; changed: log-format, log-level"])
    #expect(world.log.level == .notice && world.log.format == .text)
  }

  @Test("a file with a mistake changes nothing")
  func mistake() throws {
    let world = try World("log-level: notice\ntoken-file: t")
    let (lines, files, _) = try world.read("log-level: debug\ntoken-file: u\nmaximum-depth: 0")
    #expect(lines.count == 1)
    #expect(
      lines.first?.hasPrefix(
        "error: the configuration was not reloaded, and the previous one stays in use: s.yaml:3: "
          + "maximum-depth:") == true, "\(lines)")
    #expect(world.log.level == .notice && files.tokens == "t")
  }

  @Test("paths of tokens and certificates change, but neither begins or ends")
  func secrets() throws {
    let world = try World("token-file: t\ntls-cert: c\ntls-key: k")
    let (lines, files, _) = try world.read(
      "token-file: u\ntls-cert: d\ntls-key: k\ntls-client-ca: a")
    #expect(
      lines == ["notice: reloaded the configuration; changed: tls-cert, tls-client-ca, token-file"])
    #expect(files.tokens == "u" && files.certificate?.certificate == "d")
    #expect(files.certificate?.clientAuthority == "a")
    let (more, kept, _) = try world.read("{}")
    #expect(
      more.last
        == "warning: these changes of the configuration need a restart of the server: tls-cert, "
        + "tls-client-ca, tls-key, token-file")
    #expect(kept.tokens == "u" && kept.certificate?.certificate == "d")
    let (others, none, _) = try World("log-level: info").read("token-file: t")
    #expect(others.last?.hasSuffix("need a restart of the server: log-level, token-file") != true)
    #expect(others.last?.hasSuffix("need a restart of the server: token-file") == true)
    #expect(none.tokens == nil)
  }

  @Test(
    "a program with another command or other conditions is replaced, without a restart of the server"
  )
  func programs() throws {
    let world = try World("stores: {a: x, b: {command: y, folder: /f}, c: z}")
    let (lines, _, programs) = try world.read(
      "stores: {a: {command: x, memory-bytes: 5}, b: {command: w, folder: /f}, d: new}")
    #expect(
      lines == [
        "notice: reloaded the configuration; changed: stores.a.memory-bytes, stores.b.command",
        "warning: these changes of the configuration need a restart of the server: stores.c.command, "
          + "stores.d.command",
      ])
    #expect(programs.map(\.name) == ["a", "b"])
    #expect(programs[0].command.memoryBytes == 5 && programs[1].command.words == ["w"])
    // The same file again changes nothing.
    let again = try world.read(
      "stores: {a: {command: x, memory-bytes: 5}, b: {command: w, folder: /f}, d: new}")
    #expect(again.programs.isEmpty && again.lines.first?.hasSuffix("changed: nothing") == true)
    // All programs depend on `watch`.
    let watched = try world.read("watch: true\nstores: {a: x, b: {command: w, watch: false}, c: z}")
    #expect(
      watched.programs.map { "\($0.name) \($0.command.isWatched)" } == [
        "a true", "b false", "c true",
      ])
  }
}
