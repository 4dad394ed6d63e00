// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// An injected fault: changes how an operation runs in a test.
public enum Fault: Equatable, Sendable {
  /// The operation fails immediately and is not carried out.
  case fail
  /// The operation begins this much later.
  case delay(Duration)
  /// The operation never ends and is not carried out; cancelling it ends it.
  case hang
  /// The connection that asked for the fault is dropped when the operation begins.
  case dropConnection
}

/// The faults that wait for the next calls of one store's operations.
public final class Faults: Sendable {
  private struct Waiting {
    let operation: String
    let fault: Fault
    var times: Int
  }

  private struct State {
    var waiting: [Waiting] = []
    var drops = 0
  }

  private let state = Lock(State())
  /// The fault of work for which none is injected, except exchanges and work that needs nothing but the
  /// clock; nil for none.
  let standard: Fault?

  /// Creates an empty set of faults.
  ///
  /// - Parameter standard: The fault of work for which none is injected, so that nothing outside of
  ///   the store is used: not that of immediate effects, of waits and ticks, nor of exchanges. Nil for
  ///   none.
  public init(standard: Fault? = nil) { self.standard = standard }

  /// Adds a fault for the next calls of an operation. It applies after the faults that were added
  /// before for the same operation.
  ///
  /// - Parameters:
  ///   - fault: The fault.
  ///   - operation: The name of the operation.
  ///   - times: The number of calls.
  public func inject(_ fault: Fault, into operation: String, times: Int = 1) {
    state.withLock {
      $0.waiting.append(Waiting(operation: operation, fault: fault, times: times))
    }
  }

  /// Removes and returns the fault for a call that begins; nil if there is none.
  func take(_ operation: String) -> Fault? {
    state.withLock { state in
      guard
        let index = state.waiting.firstIndex(where: {
          $0.operation.hasSameBytes(as: operation)
        })
      else { return nil }
      let fault = state.waiting[index].fault
      state.waiting[index].times -= 1
      if state.waiting[index].times == 0 { state.waiting.remove(at: index) }
      if fault == .dropConnection { state.drops += 1 }
      return fault
    }
  }

  /// Returns the number of calls that have met `dropConnection` since the last call of this
  /// function.
  public func takeDrops() -> Int {
    state.withLock { state in
      defer { state.drops = 0 }
      return state.drops
    }
  }
}

extension Fault {
  /// Waits until the task is cancelled.
  static func hang<Outcome>(giving outcome: Outcome) async -> Outcome {
    let (nothing, end) = AsyncStream.makeStream(of: Never.self)
    await withTaskCancellationHandler {
      for await _ in nothing {}
    } onCancel: {
      end.finish()
    }
    return outcome
  }
}
