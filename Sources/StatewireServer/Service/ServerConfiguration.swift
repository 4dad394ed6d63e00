// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import CoreMetrics
public import Documents
public import Logging
public import ProcessStores
public import RemoteSources
public import SQLiteFiles
public import Transports

/// The configuration of a whole server, for programs without a command line or with their own.
///
/// ```swift
/// var configuration = ServerConfiguration(kinds: [StoreKind("stopwatch") { Stopwatch() }])
/// configuration.listeners = [.tcp(host: "127.0.0.1", port: 7228)]
/// try await Server.run(configuration)
/// ```
public struct ServerConfiguration: Sendable {
  /// The store kinds that clients can open.
  public var kinds: ServerKinds
  /// The program's name: in the response to `initialize`, and of its folder in the user's state
  /// folder.
  public var name = "statewire"
  /// The program's version in the response to `initialize`; nil: none.
  public var version: String?

  /// The addresses to listen on; without an address the server uses standard input and output.
  public var listeners: [ServerAddress] = []
  /// The descriptors of listening sockets that another process has opened, for example systemd, by
  /// their addresses. Those in `listeners` are used; the server closes them at its end.
  public var inherited: [ServerAddress: CInt] = [:]
  /// True if standard input and output are served in addition to the listeners.
  public var stdio = false
  /// The files that the addresses `web` and `secureWeb` serve over HTTP beside the WebSocket.
  public var site = WebSite()

  /// The number of shards: threads that each serve a part of the sessions. Nil: as many as
  /// processors if the server listens on an address; one without an address, under test, and with
  /// a kind whose stores sessions share.
  public var shards: Int?

  /// The host and the port of the admin interface; nil: none. Without `adminTokenFile` and `certificate`,
  /// it has to be on this machine.
  public var admin: (host: String, port: Int)?
  /// The token file of operators: each request to the admin interface must have one of its tokens, and the
  /// interface uses TLS if there is a `certificate`. Nil: the admin interface needs no token and uses no TLS.
  public var adminTokenFile: String?

  /// The metrics library of an embedding program, for example `MetricsSystem.factory`; nil: the metrics
  /// are only at the admin interface and in `Server.metrics`.
  public var metrics: (any MetricsFactory)?
  /// The time between two exports of the metrics to that library.
  public var metricsInterval = Duration.seconds(10)

  /// The distributed traces of inputs; nil: inputs are not traced.
  public var tracing: TracingConfiguration?

  /// The folder of persistent sessions and lists; one server at a time uses it. Nil: sessions end
  /// with the process, tables and documents are in memory, and the built-in kinds use the program's
  /// folder in the user's state folder.
  public var dataFolder: String?
  /// The place among several servers that share a database; nil: this server is alone.
  public var cluster: ClusterConfiguration?
  /// The failure that data in `dataFolder` survives.
  public var durability = Durability.process

  /// The token file: each client must send one of its tokens. Nil: clients need no token. A
  /// listener that other machines can reach should use tokens or TLS; this is not checked here.
  public var tokenFile: String?
  /// The files of the certificate for addresses `tls` and `secureWeb`.
  public var certificate: CertificateFiles?

  /// The limits of clients and connections.
  public var limits = ServerLimits()
  /// The limits of sessions.
  public var sessionLimits = SessionLimits()
  /// The limits of tables and documents of the program's own kinds.
  public var documentLimits = DocumentLimits()
  /// The configuration of the built-in kinds; used only if `kinds` contains them.
  public var builtin = BuiltinConfiguration()
  /// The kinds whose machines are programs in other languages. One replaces another kind with the same
  /// name.
  public var programs: [ProgramKind] = []

  /// The log of the server.
  public var logger: Logger
  /// True if clients control a virtual clock and inject faults.
  public var isTest = false
  /// True if the server ends at SIGTERM, SIGINT and SIGHUP. With tokens or a certificate, SIGHUP
  /// reloads them instead. False: the server ends when its task is cancelled.
  public var handlesSignals = true
  /// Called at SIGHUP before tokens and certificates are read again. Nil: there is no configuration file.
  var reload: (@Sendable () -> ConfigurationReload.Changes)?

  /// Creates a configuration that serves standard input and output.
  ///
  /// - Parameters:
  ///   - kinds: The store kinds that clients can open.
  ///   - logger: The log; by default a logger of the program's logging system.
  public init(kinds: ServerKinds, logger: Logger = Logger(label: "statewire")) {
    (self.kinds, self.logger) = (kinds, logger)
  }

  /// True if standard input and output are served.
  var servesStdio: Bool { stdio || listeners.isEmpty }
}

/// A store kind whose machine is a program in another language.
public struct ProgramKind: Sendable {
  /// The name in `store/open`.
  public var name: String
  /// The program.
  public var command: ProgramCommand
  /// The number of processes between which the stores are divided.
  public var processes = 1
  /// The sessions that use one store.
  public var scope = StoreScope.session

  /// Creates a kind with one process.
  public init(_ name: String, _ command: ProgramCommand) {
    (self.name, self.command) = (name, command)
  }
}

/// The paths of the files of a certificate, in PEM.
public struct CertificateFiles: Sendable {
  /// The path of the certificate chain.
  public var certificate: String
  /// The path of the private key.
  public var key: String
  /// The path of the authorities for client certificates; nil: clients need no certificate.
  public var clientAuthority: String?

  /// Creates the paths; the files are not read here.
  public init(certificate: String, key: String, clientAuthority: String? = nil) {
    (self.certificate, self.key, self.clientAuthority) = (certificate, key, clientAuthority)
  }
}

/// The configuration of the built-in kinds.
public struct BuiltinConfiguration: Sendable {
  /// The HTTP service of the balance; nil: the ledger in the database.
  public var balanceURL: HTTPAddress?
  /// The time zone for dates in the texts of the balance.
  public var zone = TimeZoneRule.utc
  /// The sources for loaders.
  public var sources: [SourceArgument] = []
  /// The folder of the sources that are files.
  public var sourceFolder = "."
  /// Maximum length of the data of one source, in bytes.
  public var maximumSourceBytes = HTTPSource.maximumBytes
  /// Maximum number of bytes that the caches of all loaders hold.
  public var maximumCacheBytes = LoaderCaches.maximumBytes
  /// The limits of titles and form entries.
  public var textLimits = TextLimits()
  /// The limits of todo lists.
  public var todoLimits = TodoLimits()

  /// Creates the default configuration.
  public init() {}
}
