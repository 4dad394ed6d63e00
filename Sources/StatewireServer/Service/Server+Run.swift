// SPDX-License-Identifier: Apache-2.0

internal import EmbeddedStorage
internal import Glibc
internal import Logging
internal import SQLiteFiles
internal import Transports

extension Server {
  /// Runs a server from its start to its end.
  ///
  /// It ends at a signal, when this task is cancelled, or when it serves standard input and output alone and the input
  /// ends. It then accepts no more requests, responds to those that it has received, and closes its files.
  ///
  /// - Parameters:
  ///   - configuration: The server.
  ///   - started: Called when the server listens, with the addresses that it was given.
  /// - Throws: `StartupError` or `StorageError`, which say in one sentence why the server did not start, or
  ///   why it ended because its database cannot be opened; `ServerFailure` if it has logged a failure.
  public static func run(
    _ configuration: ServerConfiguration,
    started: @escaping @Sendable (_ addresses: [ServerAddress]) -> Void = { _ in }
  ) async throws {
    try await run(configuration, on: nil, started: started)
  }

  /// - Parameter loop: The loop of the calling thread, which watches signals, and serves standard input and output if
  ///   nothing else is served; nil: threads of the server do.
  static func run(
    _ configuration: ServerConfiguration, on loop: PollLoop?,
    started: @escaping @Sendable ([ServerAddress]) -> Void = { _ in }
  ) async throws {
    let logger = configuration.logger
    // SIGHUP must not end the process before it is watched.
    let canBeReloaded = configuration.tokenFile != nil || configuration.certificate != nil
    if canBeReloaded, configuration.handlesSignals { signal(SIGHUP, SIG_IGN) }
    let parts = try await ServerParts.open(configuration, on: loop)
    let ending = Latch()
    var signals: ProcessSignals?
    if configuration.handlesSignals {
      // The end of a terminal ends the server as well, unless it was told to outlive that (`nohup`).
      let hearsHangup = canBeReloaded || !ProcessSignals.isIgnored(SIGHUP)
      do {
        signals = try ProcessSignals([SIGTERM, SIGINT] + (hearsHangup ? [SIGHUP] : []), on: loop) {
          number in
          if number == SIGHUP, canBeReloaded {
            parts.secrets.reload(parts.server)
          } else {
            ending.happen()
          }
        }
      } catch {
        await parts.close()
        throw error
      }
    }
    // From here on a signal ends the server gracefully, so a process that has read this line may send one.
    for address in parts.server.addresses { logger.notice("listening on \(address)") }
    started(parts.server.addresses)
    let failure = await withTaskGroup(of: StorageError?.self) { group in
      group.addTask {
        await parts.server.untilEnded()
        ending.happen()
        return nil
      }
      if let database = parts.database {
        // Offload, since what looks at files keeps its thread waiting.
        group.addTask(executorPreference: globalConcurrentExecutor) {
          // A named folder must be usable; the default one is looked at on first use. To open the database takes as
          // long as all the rest of the start, and the first response does not wait for it.
          if configuration.dataFolder != nil {
            do throws(StorageError) {
              try await database.open()
            } catch {
              ending.happen()
              return error
            }
          }
          await database.run()
          return nil
        }
      }
      await withTaskCancellationHandler {
        await ending.wait()
      } onCancel: {
        ending.happen()
      }
      await parts.server.stop()
      group.cancelAll()
      return await group.reduce(nil) { $0 ?? $1 }
    }
    await parts.close()
    signals?.end()
    if let failure { throw failure }
    if parts.hasFailed.isRaised { throw ServerFailure() }
  }
}

/// A server has ended after a failure, which it has logged: written output was lost, or the client of standard input
/// and output sent `exit` without `shutdown`.
public struct ServerFailure: Error {}
