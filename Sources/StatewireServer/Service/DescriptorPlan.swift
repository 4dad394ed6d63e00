// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Logging
internal import RemoteSources
internal import ServerCore
internal import Transports

/// How the descriptors of the process are divided between the server's own files, its connections, and what its
/// sources open.
///
/// Connections and sources never get those of the server's own files: a database or a journal that cannot be opened
/// would fail everybody, and some libraries end the process.
struct DescriptorPlan {
  /// What a server opens, whatever its limits are.
  struct Needs {
    var listeners = 0
    var stdio = false
    /// Servers that sources and the balance are loaded from.
    var hosts = 0
    /// Sources that are files.
    var files = 0

    /// What must be there: of the database its file, log and shared memory, and one more connection that reads; the
    /// journal's file and log, the file of crashes, the lock, and what is open for a moment while they are opened; what
    /// signals wake the loop by; the loop of the listeners and them; the pipes and copies of standard input and output;
    /// the loops of the HTTP client, of which SwiftNIO makes one for each processor.
    fileprivate var least: Int {
      var count = 13
      if listeners > 0 { count += 5 + listeners }
      if stdio { count += 6 }
      if hosts > 0 { count += 3 * Needs.processors }
      return count
    }

    /// The threads that are started later: those of the database, at which libdispatch would wait for ever; of the
    /// copies of standard input and output; of the loops, where SwiftNIO ends the process.
    var threads: Int {
      4 + (stdio ? 2 : 0) + (listeners > 0 ? 1 : 0) + (hosts > 0 ? Needs.processors : 0)
    }

    private static let processors = max(1, sysconf(CInt(_SC_NPROCESSORS_ONLN)))
  }

  /// Connections in all.
  private(set) var connections: Int
  /// Connections that are told why they are refused.
  private(set) var refusedConnections: Int
  /// Connections to each server that sources are loaded from.
  private(set) var connectionsPerHost = 256
  /// Sources that are files and open at the same time.
  private(set) var openFiles = 64

  /// What is kept for more connections to the database that read, temporary files of SQLite, files of pages, and
  /// sockets that have been accepted and are closed right away.
  private static let reserve = 24

  /// Divides the descriptors that are left.
  ///
  /// - Parameters:
  ///   - needs: What the server opens.
  ///   - limit: How many descriptors the process may have.
  ///   - open: How many it has.
  ///   - wanted: The limits that were asked for.
  /// - Throws: `StartupError` where the server could not serve anything.
  init(
    _ needs: Needs, limit: Int, open: Int, wanted: ServerLimits
  ) throws(StartupError) {
    connections = wanted.connections
    refusedConnections = wanted.refusedConnections
    let free = limit - open - needs.least
    // One that is served, and one that is refused.
    let least = needs.listeners > 0 ? 2 : 0
    guard free >= least else {
      throw StartupError(
        """
        \(limit) files may be open and \(open) are; the server needs \(needs.least + least) more: raise the limit \
        (ulimit -n)
        """)
    }
    let rest = free - min(free / 2, Self.reserve)
    // A host takes two for each connection while it tries several addresses, a file two while folders are opened.
    let sources = 2 * (needs.hosts * connectionsPerHost + (needs.files > 0 ? openFiles : 0))
    let forSources = min(sources, rest / 4)
    if forSources < sources {
      let share = max(1, forSources / (2 * (needs.hosts + (needs.files > 0 ? 1 : 0))))
      connectionsPerHost = min(connectionsPerHost, share)
      openFiles = min(openFiles, share)
    }
    let forConnections = rest - forSources
    if wanted.connections + wanted.refusedConnections > forConnections {
      refusedConnections = min(wanted.refusedConnections, max(1, forConnections / 8))
      connections = min(wanted.connections, max(1, forConnections - refusedConnections))
    }
  }
}

extension DescriptorPlan {
  /// Divides the descriptors that the process may have, as many as the system allows.
  ///
  /// - Throws: `StartupError` where they are too few, or the threads that libraries start.
  init(for configuration: ServerConfiguration) throws(StartupError) {
    let (limits, listeners) = (configuration.limits, configuration.listeners)
    var needs = Needs(listeners: listeners.count, stdio: configuration.servesStdio)
    if configuration.kinds.hasBuiltin {
      let builtin = configuration.builtin
      needs.hosts = builtin.sources.count { $0.isRemote } + (builtin.balanceURL == nil ? 0 : 1)
      needs.files = builtin.sources.count { !$0.isRemote }
    }
    let limit = SystemResources.raiseDescriptorLimit()
    // Where there are many, it does not matter how many are open.
    let open = limit < limits.connections + 8192 ? SystemResources.openDescriptors(below: limit) : 0
    try self.init(needs, limit: limit, open: open, wanted: limits)
    try SystemResources.require(threads: needs.threads)
    if !listeners.isEmpty, connections < limits.connections {
      configuration.logger.warning(
        """
        at most \(connections) connections are served at the same time, since the process may have \(limit) \
        files open: raise the limit (ulimit -n) or lower --maximum-connections
        """)
    }
  }
}
