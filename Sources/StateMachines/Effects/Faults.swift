// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// What a test does to an operation.
public enum Fault: Equatable, Sendable {
  /// It fails at once, and is not carried out.
  case fail
  /// It begins that much later.
  case delay(Duration)
  /// It never ends, and is not carried out; cancelling it ends it.
  case hang
  /// The connection that asked for the fault is dropped as it begins.
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

  public init() {}

  /// Lets the next calls of an operation meet a fault, after those that are to meet one already.
  public func inject(_ fault: Fault, into operation: String, times: Int = 1) {
    state.withLock {
      $0.waiting.append(Waiting(operation: operation, fault: fault, times: times))
    }
  }

  /// The fault of a call that begins.
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

  /// How many calls have met `dropConnection` since this was asked last.
  public func takeDrops() -> Int {
    state.withLock { state in
      defer { state.drops = 0 }
      return state.drops
    }
  }
}

extension Fault {
  /// Waits until it is cancelled.
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
