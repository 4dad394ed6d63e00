// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import BuiltinStores
import Logging
import RemoteSources
import SQLiteFiles
import Transports

/// `statewire serve`: the service itself.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serves stores to frontends.",
    discussion: """
      Without a listener, standard input and output are served, and the server ends with its \
      input. Frames are lines of JSON, or have Content-Length headers; the first bytes of a \
      connection decide. Logs go to standard error.
      """
  )

  @Option(help: "Listen on a TCP address; repeatable. Port 0 takes a free one.")
  var tcp: [Listener] = []

  @Option(
    help: ArgumentHelp(
      "Listen on a TCP address for browsers; repeatable.",
      discussion: "A WebSocket at /, one message a text frame, and the page beside it."))
  var web: [Listener] = []

  @Option(
    help: ArgumentHelp(
      "Serve the files of this folder before those of the page, for whoever writes one.",
      valueName: "folder"))
  var webRoot: String?

  @Option(help: "Listen on a Unix socket that only you can open; repeatable.")
  var unix: [String] = []

  @Flag(help: "Serve standard input and output beside other listeners.")
  var stdio = false

  @Option(
    help: """
      The folder of the database, to which other users must not be able to write. (default: \
      $XDG_STATE_HOME/statewire)
      """)
  var dataDir: String?

  @Option(
    help: ArgumentHelp(
      "What sessions and lists in --data-dir outlive: the end of the process, or lost power.",
      discussion: """
        With --data-dir the folder has one server at a time, and its sessions come back with the \
        next. Against lost power each turn waits for the disk. (default: process)
        """,
      valueName: "process|power"))
  var durability: Durability?

  @Option(
    help: ArgumentHelp(
      "Ask this URL for the balance, in place of the ledger.",
      discussion: """
        http:// or https://; it answers {"balance": …, "date": …} to GET. @FILE: the URL is in that \
        file, since other users can see the arguments of a process, and a URL may hold a key.
        """,
      valueName: "url"))
  // Not read by the parser, which repeats a value that it refuses: a URL may have a password in it.
  var balanceUrl: String?

  // An offset may begin with a minus.
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The time zone of the balance's texts, like +02:00 or Europe/Berlin. (default: UTC)",
      valueName: "zone"))
  var timeZone: NamedTimeZone?

  @Option(
    help: ArgumentHelp(
      "Something that loaders may load; repeatable.",
      discussion: """
        NAME=https://…, NAME=http://… or NAME=file:… for a file in --source-dir; NAME=@FILE: the \
        URL is in that file, as for --balance-url.
        """,
      valueName: "name=url"))
  // As `balanceUrl`.
  var source: [String] = []

  @Option(help: "The folder of the sources that are files. (default: the current one)")
  var sourceDir: String?

  @Option(help: "What to log, from everything to the worst only.")
  var logLevel = LogLevel.notice

  @Flag(
    help: ArgumentHelp(
      "For tests: frontends move the clock and inject faults.",
      discussion: """
        Turns on test/advanceClock and test/injectFault; time stands still between them, ids are \
        the same every time, and without --data-dir the data is in a new folder that goes with the \
        server.
        """))
  var test = false

  @OptionGroup(title: "Strangers")
  var security: SecurityOptions

  @OptionGroup(title: "Limits")
  var limits: LimitOptions

  func run() async throws {
    try security.check(tcp + web)
    if durability != nil, dataDir == nil {
      throw StartupError("--durability is about what is kept in a folder: give --data-dir as well")
    }
    if web.isEmpty, webRoot != nil || !security.webOrigin.isEmpty {
      throw StartupError("--web-root and --web-origin are about browsers: give --web as well")
    }
    var service = Service()
    let isSecured = try security.certificateFiles() != nil
    service.listeners =
      tcp.map { isSecured ? $0.secured : $0.address } + unix.map { .unix(path: $0) }
      + web.map { isSecured ? $0.securedWeb : $0.web }
    if !web.isEmpty {
      service.site = WebSite(
        files: WebFiles.all(), folder: webRoot, origins: security.webOrigin, hasEcho: test)
    }
    service.stdio = stdio || service.listeners.isEmpty
    service.dataDir = dataDir
    service.durability = durability ?? .process
    service.logLevel = logLevel.level
    service.tokenFile = security.tokenFile
    service.certificateFiles = try security.certificateFiles()
    service.limits = limits.server
    service.textLimits = limits.texts
    service.todoLimits = limits.todos
    service.sessionLimits = limits.session
    var files = URLFiles()
    service.balanceURL = try balanceAddress(
      balanceUrl.map { url throws(StartupError) in try files.resolve(url, hasName: false) })
    service.zone = timeZone?.rule ?? .utc
    service.sources = try sources(
      source.map { text throws(StartupError) in try files.resolve(text, hasName: true) })
    service.exposedFiles = files.exposed
    service.sourceFolder = sourceDir ?? "."
    service.maximumSourceBytes = limits.maximumSourceBytes
    service.isTest = test
    try await service.run(on: Statewire.loop.get())
  }

  func validate() throws {
    // Files are read once, by `run`: one may be a pipe.
    if let balanceUrl, URLFiles.path(in: balanceUrl, hasName: false) == nil {
      _ = try balanceAddress(balanceUrl)
    }
    _ = try sources(source.filter { URLFiles.path(in: $0, hasName: true) == nil })
  }

  private func balanceAddress(_ url: String?) throws(ValidationError) -> HTTPAddress? {
    do throws(SourceError) {
      return try url.map { url throws(SourceError) in try HTTPAddress(url) }
    } catch {
      throw ValidationError("--balance-url: \(error.message)")
    }
  }

  private func sources(_ texts: [String]) throws(ValidationError) -> [SourceArgument] {
    do throws(SourceError) {
      return try SourceArgument.all(texts)
    } catch {
      throw ValidationError("--source: \(error.message)")
    }
  }
}

/// A TCP address on the command line.
struct Listener: ExpressibleByArgument {
  let address: ServerAddress
  /// The same with TLS.
  let secured: ServerAddress
  /// The same for browsers.
  let web: ServerAddress
  let securedWeb: ServerAddress
  /// Whether only this machine can reach it.
  let isLoopback: Bool

  init?(argument: String) {
    guard case .tcp(let host, let port)? = ServerAddress(argument) else { return nil }
    address = .tcp(host: host, port: port)
    secured = .tls(host: host, port: port)
    web = .web(host: host, port: port)
    securedWeb = .secureWeb(host: host, port: port)
    isLoopback =
      host.lowercased() == "localhost" || host == "::1"
      || (host.hasPrefix("127.")
        && host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) })
  }
}

/// A log level on the command line.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
  case trace, debug, info, notice, warning, error, critical

  var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .notice }
}
