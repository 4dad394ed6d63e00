// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import Logging
internal import RemoteSources
internal import SQLiteFiles
internal import ServerCore
internal import Sessions

/// The values of the options of `serve`.
struct ServeOptions: Sendable {
  var tcp: [ListenerAddress] = []
  var web: [ListenerAddress] = []
  var unix: [String] = []
  var stdio = false
  var admin: String?
  /// Nil: not given.
  var shards: Int?
  var webRoot: String?
  var webOrigins: [String] = []
  var contentSecurityPolicy: String?

  var dataFolder: String?
  var database: String?
  /// The place of the address of the database, for messages; nil: an option on the command line.
  var databasePlace: String?
  var databaseFile: String?
  var node: String?
  var advertised: String?
  /// Nil means zero.
  var lease: Duration? = .seconds(5)
  var nodeSecretFile: String?
  var nodeAuthority: String?
  /// Nil: not given, which means `process`.
  var durability: Durability?
  var logLevel = Logger.Level.notice
  var logFormat = LogFormat.text
  var traceEndpoint: String?
  /// Nil: not given, which means 1.
  var traceRatio: Double?
  var configurationFile: String?
  var credentials = CredentialFolder()
  var isTest = false

  var balanceURL: String?
  var zone: TimeZoneRule?
  var sources: [String] = []
  var sourceFolder: String?
  var stores: [String] = []
  var watchesStores = false
  /// The settings of programs in the configuration file, by the names of their kinds.
  var programs: [String: ProgramSettings] = [:]

  var tokenFile: String?
  var adminTokenFile: String?
  var tlsCertificate: String?
  var tlsKey: String?
  var tlsClientAuthority: String?
  var isInsecure = false

  var limits = ServerLimits()
  var sessions = SessionLimits()
  var texts = TextLimits()
  var todos = TodoLimits()
  var sourceBytes = HTTPSource.maximumBytes
  var cacheBytes = LoaderCaches.maximumBytes

  /// The value of `sessions.timeToLive`; nil means zero.
  var sessionTime: Duration? {
    get { sessions.timeToLive }
    set { sessions.timeToLive = newValue ?? .zero }
  }
}
