// SPDX-License-Identifier: Apache-2.0

/// A gate at which one task at a time waits until it is let through or cancelled.
actor Gate {
  private var isOpen = false
  private var waiting: (number: Int, continuation: CheckedContinuation<Void, Never>)?
  private var lastNumber = 0

  /// Lets the waiting task through, or the next one that waits.
  func open() {
    guard let waiting else {
      isOpen = true
      return
    }
    self.waiting = nil
    waiting.continuation.resume()
  }

  func wait() async {
    if isOpen {
      isOpen = false
      return
    }
    lastNumber += 1
    let number = lastNumber
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume()
        } else {
          waiting = (number, continuation)
        }
      }
    } onCancel: {
      Task { await self.cancel(number) }
    }
  }

  private func cancel(_ number: Int) {
    guard let waiting, waiting.number == number else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }
}
