// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
public import BuiltinStoresProtocol
import StateMachines
import TestSupport

/// A source whose calls a test controls.
final class ScriptedSource: LoadingSource {
  typealias Report = @Sendable (LoadingProgress) async -> Void

  /// A step of a call; waits are on the clock of the test.
  enum Step: Sendable {
    case wait(Double)
    case report(Int?, String? = nil)
    case load(LoadedValue)
    case fail(any Error)
    /// Waits for the gate and ignores its cancellation.
    case gate(Gate)
    /// Reports when the gate is open, from a task that is not cancelled.
    case reportLater(Gate, Int)
  }

  private let clock: ManualClock
  private let calls: [[Step]]
  private let state = Lock((begun: 0, cancelled: 0))

  /// Creates a source.
  ///
  /// - Parameter calls: The steps of each call. Further calls repeat the last one.
  init(_ clock: ManualClock, _ calls: [Step]...) {
    self.clock = clock
    self.calls = calls
  }

  /// The number of calls.
  var begun: Int { state.withLock { $0.begun } }
  /// The number of calls that were cancelled while they waited on the clock.
  var cancelled: Int { state.withLock { $0.cancelled } }

  func load(_ report: @escaping Report) async throws -> LoadedValue {
    let number = state.withLock { state in
      state.begun += 1
      return state.begun
    }
    for step in calls[min(number, calls.count) - 1] {
      switch step {
      case .wait(let seconds):
        do {
          try await clock.sleep(for: .milliseconds(Int(seconds * 1_000)))
        } catch {
          state.withLock { $0.cancelled += 1 }
          throw error
        }
      case .report(let percent, let message):
        await report(LoadingProgress(percent: percent, message: message))
      case .load(let value): return value
      case .fail(let error): throw error
      case .gate(let gate): await gate.wait()
      case .reportLater(let gate, let percent):
        Task.detached {
          await gate.wait()
          await report(LoadingProgress(percent: percent))
        }
      }
    }
    throw CancellationError()
  }
}

extension LoadedValue: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text: text) }
}

extension LoadingFailure {
  static let offline = LoadingFailure(code: "offline", message: "There is no network")
}
