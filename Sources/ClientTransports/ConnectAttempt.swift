// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// An attempt to connect that ends when its task is cancelled, at the latest when the name of the server has
/// been resolved. SwiftNIO waits for the server until its time limit.
final class ConnectAttempt: Sendable {
  private struct State {
    var isCancelled = false
    /// The channels: a name can have several addresses, which are tried at the same time.
    var channels: [any Channel] = []
  }

  private let state = Mutex(State())

  /// Connects with a bootstrap.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; otherwise as `connect`.
  static func run<Value: Sendable>(
    _ connect: (sending ClientBootstrap) async throws -> Value
  ) async throws -> Value {
    let attempt = ConnectAttempt()
    return try await withTaskCancellationHandler {
      do {
        return try await connect(attempt.bootstrap())
      } catch {
        throw Task.isCancelled ? CancellationError() : error
      }
    } onCancel: {
      attempt.cancel()
    }
  }

  private func bootstrap() -> ClientBootstrap {
    ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .channelOption(.allowRemoteHalfClosure, value: true)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try self.opened(channel) }
      }
  }

  private func opened(_ channel: any Channel) throws {
    let isCancelled = state.withLock { state in
      state.channels.append(channel)
      return state.isCancelled
    }
    if isCancelled { throw CancellationError() }
  }

  private func cancel() {
    let channels = state.withLock { state in
      state.isCancelled = true
      return state.channels
    }
    for channel in channels { channel.close(promise: nil) }
  }
}
