// SPDX-License-Identifier: Apache-2.0

/// Where one task at a time waits until it is let through, or is cancelled.
actor Gate {
  private var isOpen = false
  private var waiting: (inputID: Int, continuation: CheckedContinuation<Void, Never>)?
  private var lastTicket = 0

  /// Lets the task through that waits, or the next one that comes.
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
    lastTicket += 1
    let inputID = lastTicket
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume()
        } else {
          waiting = (inputID, continuation)
        }
      }
    } onCancel: {
      Task { await self.cancel(inputID) }
    }
  }

  private func cancel(_ inputID: Int) {
    guard let waiting, waiting.inputID == inputID else { return }
    self.waiting = nil
    waiting.continuation.resume()
  }
}
