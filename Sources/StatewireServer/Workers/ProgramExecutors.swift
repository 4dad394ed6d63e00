// SPDX-License-Identifier: Apache-2.0

internal import Transports
@_spi(ExperimentalCustomExecutors) internal import _Concurrency

/// The executors of the tasks of a `ServerProgram`.
///
/// - Note: The interface of the toolchain is not final (swift-evolution, "Custom Main and Global
///   Executors"). If it changes, only this file changes.
struct ProgramExecutors: ExecutorFactory {
  private static let workers = Result { () throws(StartupError) in try WorkerPool() }

  /// Makes a `WorkerPool` the default executor; called before the first task is created.
  ///
  /// - Throws: `StartupError` if the threads cannot be started.
  static func begin() throws(StartupError) {
    _ = try workers.get()
    _createExecutors(factory: ProgramExecutors.self)
  }

  /// The pool; never used before `begin` has returned.
  static var defaultExecutor: any TaskExecutor {
    switch workers {
    case .success(let workers): workers
    case .failure(let error): preconditionFailure(error.message)
    }
  }

  /// The executor of the platform. No code of this program is isolated to the main actor: the main
  /// thread runs a `PollLoop`.
  static var mainExecutor: any MainExecutor { PlatformExecutorFactory.mainExecutor }
}
