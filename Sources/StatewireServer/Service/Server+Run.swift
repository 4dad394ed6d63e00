// SPDX-License-Identifier: Apache-2.0

internal import EmbeddedStorage
internal import Logging
internal import PostgresStorage
internal import SQLiteFiles
internal import TraceExport
internal import Transports

extension Server {
  /// Runs a server from its start to its end.
  ///
  /// It ends at a signal, when this task is cancelled, or, if it serves only standard input and
  /// output, when the input ends. It then accepts no more requests, responds to those that it has
  /// received, and closes its files.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the server.
  ///   - started: Called when the server listens, with its addresses and their actual ports.
  /// - Throws: `StartupError` if the server cannot start, or `StorageError` if its database cannot
  ///   be opened; each describes the cause in one sentence. `ServerFailure` if it has logged a
  ///   failure.
  public static func run(
    _ configuration: ServerConfiguration,
    started: @escaping @Sendable (_ addresses: [ServerAddress]) -> Void = { _ in }
  ) async throws {
    try await run(configuration, on: nil, started: started)
  }

  /// Runs a server from its start to its end, as the public function does.
  ///
  /// - Parameters:
  ///   - configuration: The configuration of the server.
  ///   - loop: The loop of the calling thread. It watches signals, and serves standard input and
  ///     output if there are no listeners. Nil: the server uses its own threads.
  ///   - started: Called when the server listens.
  static func run(
    _ configuration: ServerConfiguration, on loop: PollLoop?,
    started: @escaping @Sendable ([ServerAddress]) -> Void = { _ in }
  ) async throws {
    let ending = Latch()
    try await withTaskCancellationHandler {
      try await run(configuration, on: loop, until: ending, started)
    } onCancel: {
      ending.signal()
    }
  }

  /// Runs a server from its start until a latch is signalled, which a signal and a failure do, too.
  private static func run(
    _ configuration: ServerConfiguration, on loop: PollLoop?, until ending: Latch,
    _ started: @escaping @Sendable ([ServerAddress]) -> Void
  ) async throws {
    let logger = configuration.logger
    let manager = ServiceManager()
    // Immediately, also during the start.
    if let manager { ending.whenSignalled(manager.stops) }
    ServerSignals.prepare(for: configuration)
    guard let parts = try await ServerParts.open(configuration, on: loop, ending: ending)
    else { return }
    parts.member?.whenDrained { ending.signal() }
    for address in parts.server.addresses { logger.notice("listening on \(address)") }
    for warning in (try? configuration.kinds.schemaWarnings()) ?? [] {
      logger.warning("\(warning)")
    }
    started(parts.server.addresses)
    manager?.isReady()
    let failure = await withTaskGroup(of: StorageError?.self) { group in
      group.addTask {
        await parts.server.untilEnded()
        ending.signal()
        return nil
      }
      if let manager, let interval = manager.watchdogInterval {
        // The manager restarts a server whose loops do not respond. The task ends with the group.
        group.addTask {
          while !Task.isCancelled {
            parts.server.whenAlive { manager.isAlive() }
            try? await Task.sleep(for: interval)
          }
          return nil
        }
      }
      // A task, because a signal arrives on a thread that must not wait for files. It ends with the group.
      group.addTask {
        for await _ in parts.signals.reloads {
          manager?.reloads()
          let changes = configuration.reload?()
          parts.secrets.reload(parts.server, changes?.files)
          parts.programs.reload(changes?.programs ?? [])
          manager?.isReady()
        }
        return nil
      }
      if let factory = configuration.metrics {
        // The task ends with the group.
        group.addTask {
          let exporter = MetricsExporter(factory)
          while !Task.isCancelled {
            exporter.export(parts.server.metrics)
            try? await Task.sleep(for: configuration.metricsInterval)
          }
          // The counts since the last export.
          exporter.export(parts.server.metrics)
          return nil
        }
      }
      if let exporter = parts.traces?.exporter {
        // The task ends with the group; the last spans follow.
        group.addTask(executorPreference: globalConcurrentExecutor) {
          await exporter.run()
          return nil
        }
      }
      if let member = parts.member {
        group.addTask(executorPreference: globalConcurrentExecutor) {
          await member.storage.run()
          return nil
        }
      }
      if let database = parts.database {
        // On another executor, because file access blocks its thread.
        group.addTask(executorPreference: globalConcurrentExecutor) {
          // A named folder must be usable; the default one is opened on first use. Opening the
          // database takes as long as the rest of the start, and the first response does not wait
          // for it.
          if configuration.dataFolder != nil {
            do throws(StorageError) {
              try await database.open()
            } catch {
              ending.signal()
              return error
            }
          }
          await database.run()
          return nil
        }
      }
      if let documents = parts.documents {
        group.addTask(executorPreference: globalConcurrentExecutor) {
          do throws(StorageError) {
            try await documents.open()
          } catch {
            ending.signal()
            return error
          }
          await documents.run()
          return nil
        }
      }
      await ending.wait()
      await parts.stopServing()
      group.cancelAll()
      return await group.reduce(nil) { $0 ?? $1 }
    }
    await parts.close()
    if let failure { throw failure }
    if parts.hasFailed.isRaised { throw ServerFailure() }
  }
}

/// The end of a server after a failure that it has logged: output to standard output was lost, the
/// client of standard input and output sent `exit` without `shutdown`, or the journal of such a
/// server cannot be read.
public struct ServerFailure: Error {}
