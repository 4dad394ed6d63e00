// SPDX-License-Identifier: Apache-2.0

public import BuiltinStores
public import Logging
public import RemoteSources
public import SQLiteFiles
public import Transports

/// A server with all its parts, for programs that have no command line or one of their own.
///
/// ```swift
/// var configuration = ServerConfiguration(kinds: [StoreKind("stopwatch") { Stopwatch() }])
/// configuration.listeners = [.tcp(host: "127.0.0.1", port: 7228)]
/// try await Server.run(configuration)
/// ```
public struct ServerConfiguration: Sendable {
  /// The kinds of stores that clients can open.
  public var kinds: ServerKinds
  /// The name in the response to `initialize`, and of the program's folder in the user's state folder.
  public var name = "statewire"
  /// The version in the response to `initialize`.
  public var version: String?

  /// Where to listen; without an address the server serves standard input and output.
  public var listeners: [ServerAddress] = []
  /// True if standard input and output are served beside the listeners.
  public var stdio = false
  /// What is served over HTTP beside the WebSocket, to addresses `web` and `secureWeb`.
  public var site = WebSite()

  /// The folder in which sessions and lists outlive the process. One server at a time uses it. Nil: sessions end with
  /// the process, and the built-in kinds use the program's folder in the user's state folder.
  public var dataFolder: String?
  /// What the data in a named folder outlives.
  public var durability = Durability.process

  /// The file of the tokens, one of which each client must show; nil: every client is served. A listener that other
  /// machines can reach should have tokens or TLS: this is not checked here.
  public var tokenFile: String?
  /// The files of the certificate for addresses `tls` and `secureWeb`.
  public var certificate: CertificateFiles?

  public var limits = ServerLimits()
  public var sessionLimits = SessionLimits()
  /// What the built-in kinds need, if they are among the kinds.
  public var builtin = BuiltinConfiguration()

  public var logger: Logger
  /// True if clients move the clock and inject faults.
  public var isTest = false
  /// True if the server ends at SIGTERM, SIGINT and SIGHUP, and reads tokens and certificate again at SIGHUP if it has
  /// any. False: it ends when its task is cancelled.
  public var handlesSignals = true

  /// - Parameters:
  ///   - kinds: The kinds of stores that clients can open.
  ///   - logger: The log; by default what the program has set up for swift-log.
  public init(kinds: ServerKinds, logger: Logger = Logger(label: "statewire")) {
    (self.kinds, self.logger) = (kinds, logger)
  }

  /// True if standard input and output are served.
  var servesStdio: Bool { stdio || listeners.isEmpty }
}

/// The files of a certificate, in PEM.
public struct CertificateFiles: Sendable {
  public var certificate: String
  public var key: String
  /// The authorities of which one must have signed the certificate of each client; nil: clients need none.
  public var clientAuthority: String?

  public init(certificate: String, key: String, clientAuthority: String? = nil) {
    (self.certificate, self.key, self.clientAuthority) = (certificate, key, clientAuthority)
  }
}

/// What the built-in kinds need.
public struct BuiltinConfiguration: Sendable {
  /// The service of the balance; nil: the ledger.
  public var balanceURL: HTTPAddress?
  /// The time zone of the balance's texts.
  public var zone = TimeZoneRule.utc
  /// What loaders may load.
  public var sources: [SourceArgument] = []
  /// The folder of the sources that are files.
  public var sourceFolder = "."
  /// - Units: bytes of what one source gives.
  public var maximumSourceBytes = HTTPSource.maximumBytes
  public var textLimits = TextLimits()
  public var todoLimits = TodoLimits()

  public init() {}
}
