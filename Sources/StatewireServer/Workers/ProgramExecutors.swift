// SPDX-License-Identifier: Apache-2.0

internal import Transports
@_spi(ExperimentalCustomExecutors) internal import _Concurrency

/// The executors of this program's tasks.
///
/// - Note: The interface of the toolchain is not final yet (swift-evolution, "Custom Main and Global Executors"). Where
///   a later one has another, this file changes, and nothing else.
struct ProgramExecutors: ExecutorFactory {
  private static let workers = Result { () throws(StartupError) in try WorkerPool() }

  /// Lets tasks run on a `WorkerPool`; before there is any.
  ///
  /// - Throws: `StartupError`.
  static func begin() throws(StartupError) {
    _ = try workers.get()
    _createExecutors(factory: ProgramExecutors.self)
  }

  /// Never called before `begin` has returned.
  static var defaultExecutor: any TaskExecutor {
    switch workers {
    case .success(let workers): workers
    case .failure(let error): preconditionFailure(error.message)
    }
  }

  /// Nothing of this program is isolated to the main actor: its thread runs a `PollLoop`.
  static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
}
