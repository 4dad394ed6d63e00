// SPDX-License-Identifier: Apache-2.0

import Persistence
import RemoteSources
import ServiceLifecycle
import Transports

/// The server, from its start to the end of its last connection.
struct ServerService: ServiceLifecycle.Service, CustomStringConvertible {
  // Said here, since the group asks each service for its name at the start, and looking through all
  // that it is made of costs a quarter of what a start does.
  var description: String { "server" }

  let server: Server

  func run() async throws {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await server.untilEnded() }
      // Throws only when cancelled, which is the time to stop too.
      group.addTask { try? await gracefulShutdown() }
      await group.next()
      await server.stop()
      group.cancelAll()
    }
  }
}

/// The database: looks for changes by other processes, and is closed after the last connection.
struct DatabaseService: ServiceLifecycle.Service, CustomStringConvertible {
  var description: String { "database" }

  let database: EmbeddedDatabase

  func run() async throws {
    await cancelWhenGracefulShutdown { await database.run() }
    await database.close()
  }
}

/// The HTTP client, which is shut down after the last connection.
struct ClientService: ServiceLifecycle.Service, CustomStringConvertible {
  var description: String { "HTTP client" }

  let client: RemoteClient

  func run() async throws {
    await cancelWhenGracefulShutdown { await client.run() }
  }
}
