// SPDX-License-Identifier: Apache-2.0

internal import Admin
internal import Foundation
internal import Logging
internal import RemoteSources
internal import ServerCore
internal import Transports

/// The division of the process's file descriptors between the server's own files, its connections
/// and its sources.
///
/// Connections and sources never use the descriptors of the server's own files. Without a
/// descriptor for the database or the journal every client would fail, and some libraries end the
/// process.
struct DescriptorPlan {
  /// The descriptors that a server needs independent of its limits.
  struct Needs {
    var listeners = 0
    /// Number of descriptors of each connection: 2 if it can be sent a file of a folder.
    var perConnection = 1
    /// Number of loops of the listeners.
    var loops = 1
    var stdio = false
    /// True if there may be a database of tables and documents.
    var documents = false
    /// True if there is an admin interface.
    var admin = false
    /// Number of HTTP servers of the sources and of the balance.
    var hosts = 0
    /// Number of sources that are files.
    var files = 0
    /// Number of processes of store kinds.
    var programs = 0

    /// The minimum number of descriptors.
    ///
    /// - 13: the database (file, log, shared memory, one more connection for reading), the journal
    ///   (file and log), the crash file, the lock, files that are open only during start, and the
    ///   descriptors that wake the loop at a signal.
    /// - 4: the database of tables and documents, as the other database.
    /// - Listeners: each of them, and five for each loop.
    /// - Standard input and output: pipes and copies.
    /// - Admin interface: its loop, its listener and all its connections.
    /// - Programs: the pipes of each, with those of a restart, and the pipe that wakes its thread.
    /// - HTTP client: its loops; SwiftNIO makes one for each processor.
    var minimum: Int {
      var count = documents ? 17 : 13
      if listeners > 0 { count += 5 * loops + listeners }
      if stdio { count += 6 }
      count += 8 * programs
      if admin { count += AdminInterface.descriptors }
      if hosts > 0 { count += 3 * Needs.processors }
      return count
    }

    /// The number of threads that are started later.
    ///
    /// These are the threads of the databases, of the copies of standard input and output, of the loops,
    /// and of SwiftNIO, one for each processor, which read the files of a folder. If they cannot be started, libdispatch waits without end and SwiftNIO ends
    /// the process.
    var threads: Int {
      4 + (documents ? 1 : 0) + (admin ? 1 : 0) + (stdio ? 2 : 0) + programs
        + (listeners > 0 ? loops : 0)
        + (hosts > 0 ? Needs.processors : 0)
        + (perConnection > 1 ? Needs.processors : 0)
    }

    /// The number of kinds of sources that use descriptors at the same time: each host, and files.
    fileprivate var sources: Int { hosts + (files > 0 ? 1 : 0) }

    private static let processors = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
  }

  /// Maximum number of connections.
  private(set) var connections: Int
  /// Maximum number of refused connections that receive an error at the same time.
  private(set) var refusedConnections: Int
  /// Maximum number of connections to each HTTP server of the sources.
  private(set) var connectionsPerHost = 256
  /// Maximum number of source files that are open at the same time.
  private(set) var openFiles = 64

  /// Descriptors reserved for more reading connections to the database, temporary files of SQLite,
  /// folders of pages, and accepted sockets that are closed immediately; with few descriptors
  /// fewer, but at least `leastReserve` if there are listeners.
  private static let reserve = 24
  private static let leastReserve = 2
  /// A connection to a host uses two descriptors while it tries several addresses; a file uses two
  /// while its folders are opened.
  private static let perSource = 2

  /// Divides the free descriptors.
  ///
  /// - Parameters:
  ///   - needs: The server's own descriptors.
  ///   - limit: Maximum number of descriptors of the process.
  ///   - open: Number of descriptors that are open now.
  ///   - wanted: The requested limits, which are reduced if necessary.
  /// - Throws: `StartupError` if no connection could be served, or a source not be used.
  init(
    _ needs: Needs, limit: Int, open: Int, wanted: ServerLimits
  ) throws(StartupError) {
    connections = wanted.connections
    refusedConnections = wanted.refusedConnections
    let free = limit - open - needs.minimum
    // One connection that is served, and one that is refused; one use of each source.
    let forOneClient = needs.listeners > 0 ? needs.perConnection + 1 : 0
    let forOneUse = Self.perSource * needs.sources
    let guaranteed = forOneClient + forOneUse
    let leastReserve = needs.listeners > 0 ? Self.leastReserve : 0
    let minimum = guaranteed + leastReserve
    guard free >= minimum else {
      throw StartupError(
        """
        too few file descriptors: the process may open \(limit), \(open) are open, and the server \
        needs \(needs.minimum + minimum) more; raise the limit (ulimit -n)
        """)
    }
    let rest = free - min(max(free / 2, leastReserve), free - guaranteed, Self.reserve)
    let uses = needs.hosts * connectionsPerHost + (needs.files > 0 ? openFiles : 0)
    let sources = Self.perSource * uses
    let forSources = min(sources, max(forOneUse, rest / 4))
    if forSources < sources {
      let share = forSources / forOneUse
      connectionsPerHost = min(connectionsPerHost, share)
      openFiles = min(openFiles, share)
    }
    let forConnections = rest - forSources
    func most(besides refused: Int) -> Int {
      (forConnections - refused) / needs.perConnection
    }
    if wanted.connections > most(besides: wanted.refusedConnections) {
      refusedConnections = min(wanted.refusedConnections, max(1, forConnections / 8))
      connections = min(wanted.connections, max(1, most(besides: refusedConnections)))
    }
  }
}

extension DescriptorPlan {
  /// Raises the descriptor limit of the process as far as the system allows, and divides the
  /// descriptors.
  ///
  /// - Throws: `StartupError` if there are too few descriptors, or too few threads for libraries.
  init(for configuration: ServerConfiguration) throws(StartupError) {
    let (limits, listeners) = (configuration.limits, configuration.listeners)
    var needs = Needs(
      listeners: listeners.count, loops: configuration.mostShards,
      stdio: configuration.servesStdio)
    if configuration.site.folder != nil { needs.perConnection = 2 }
    needs.programs = configuration.programs.reduce(0) { $0 + max(1, $1.processes) }
    needs.admin = configuration.admin != nil
    needs.documents = configuration.kinds.hasOwn && configuration.dataFolder != nil
    if configuration.kinds.hasBuiltin {
      let builtin = configuration.builtin
      var origins = Set(builtin.sources.compactMap(\.origin))
      if let balance = builtin.balanceURL { origins.insert(balance.origin) }
      needs.hosts = origins.count
      needs.files = builtin.sources.count { $0.origin == nil }
    }
    let limit = SystemResources.raiseDescriptorLimit()
    // With a high limit, the number of open descriptors does not matter.
    let areMany = (limit - 8192) / needs.perConnection >= limits.connections
    let open = areMany ? 0 : SystemResources.openDescriptors(below: limit)
    try self.init(needs, limit: limit, open: open, wanted: limits)
    try SystemResources.require(threads: needs.threads)
    if !listeners.isEmpty, connections < limits.connections {
      configuration.logger.warning(
        """
        serving at most \(connections) connections, because the process may open only \(limit) \
        files; raise the limit (ulimit -n) or lower --maximum-connections
        """)
    }
  }
}
