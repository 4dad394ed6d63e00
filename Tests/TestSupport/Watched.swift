// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A value with a lock. A test can wait for a change of the value.
///
/// It does not use the `Lock` of StateMachines because this module depends on no other one. It does
/// not use `Synchronization.Mutex` because the thread sanitizer does not recognize it on Linux.
// @unchecked because every access to `value` and `waiters` holds `lock`.
public final class Watched<Value>: @unchecked Sendable {
  private struct Waiter {
    let number: Int
    let condition: @Sendable (Value) -> Bool
    let continuation: CheckedContinuation<Bool, Never>
  }

  private let lock = NSLock()
  private var value: Value
  private var waiters: [Waiter] = []
  private var lastNumber = 0

  public init(_ value: sending Value) { self.value = value }

  /// Calls `body` with the value, then resumes the waiting tasks whose condition is true.
  ///
  /// `body` must be short and must not call this object.
  @discardableResult
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    let result: Result
    do {
      result = try body(&value)
    } catch {
      lock.unlock()
      throw error
    }
    var due: [Waiter] = []
    if !waiters.isEmpty {
      due = waiters.filter { $0.condition(value) }
      waiters.removeAll { waiter in due.contains { $0.number == waiter.number } }
    }
    lock.unlock()
    for waiter in due { waiter.continuation.resume(returning: true) }
    return result
  }

  /// Returns when the condition is true after a change, or immediately if it is true already.
  ///
  /// - Throws: `CancellationError` when the time limit of the test is over.
  public func until(_ condition: @escaping @Sendable (Value) -> Bool) async throws {
    let number = lock.withLock {
      lastNumber += 1
      return lastNumber
    }
    let holds = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let result: Bool? = lock.withLock {
          if condition(value) { return true }
          if Task.isCancelled { return false }
          waiters.append(
            Waiter(number: number, condition: condition, continuation: continuation))
          return nil
        }
        if let result { continuation.resume(returning: result) }
      }
    } onCancel: {
      let waiter = lock.withLock {
        waiters.firstIndex { $0.number == number }.map { waiters.remove(at: $0) }
      }
      waiter?.continuation.resume(returning: false)
    }
    guard holds else { throw CancellationError() }
  }
}
