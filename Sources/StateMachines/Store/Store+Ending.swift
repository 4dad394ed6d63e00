// SPDX-License-Identifier: Apache-2.0

// The ends of inputs, and of the store.

extension Store {
  /// Calls `body` once when all effects of an input have ended, immediately if they have ended
  /// already.
  public func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    if inputIDs.isSettled(inputID) {
      body(Completion(revision: revision, phase == .closed ? .closed : .settled))
    } else {
      inputIDs.wait(for: inputID, body)
    }
  }

  /// True if no exchange delays the response to an input.
  public func isReplied(_ inputID: InputID) -> Bool { inputIDs.isReplied(inputID) }

  /// True while another party works at an input, also at an action of its effects.
  public func hasExchange(_ inputID: InputID) -> Bool { inputIDs.hasExchange(inputID) }

  /// Calls `body` once when the exchanges of an input have ended, which must not have ended.
  public func whenReplied(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    inputIDs.waitForReply(to: inputID, body)
  }

  /// Records that a request gets its response when all effects of an input have ended.
  public func respondsAtEnd(of inputID: InputID) { inputIDs.respondsAtEnd(of: inputID) }

  /// True after the store was closed.
  public var isClosed: Bool { phase == .closed }

  /// The tasks of all work that has not ended, including cancelled work.
  public var unfinished: [Task<Void, Never>] { runner.unfinished }

  /// True if `unfinished` is not empty.
  public var hasUnfinished: Bool { runner.hasUnfinished }

  /// Closes the store: cancels its effects, calls the callbacks that wait for them, and removes its
  /// listeners.
  ///
  /// - Returns: The tasks that were cancelled and have not ended yet.
  @discardableResult
  public func close() -> [Task<Void, Never>] {
    guard phase != .closed else { return [] }
    phase = .closed
    for run in runner.cancelAll() {
      endParts(of: run)
      observers?.ended(run.operation, .cancelled, revision)
    }
    _ = listeners.removeAll()
    let open = inputIDs.closeAll()
    if let performing, !open.contains(where: { $0.inputID == performing }) {
      observers?.ended(.input(performing), .cancelled, revision)
    }
    for (inputID, waiters) in open {
      observers?.ended(.input(inputID), .cancelled, revision)
      for waiter in waiters {
        waiter(Completion(revision: revision, .closed))
      }
    }
    observers?.closed(revision)
    observers = nil
    audiences?.removeAll()
    return runner.unfinished
  }

  /// Records that one of the effects that an input waits for has ended. After the last one, it
  /// calls the callbacks that wait for the input.
  func settled(_ inputID: InputID, cancelled: Bool) {
    guard let (waiters, end, base) = inputIDs.ended(inputID), inputID != performing else { return }
    record?.settled(inputID)
    if !effectsWithoutInput.isEmpty { effectsWithoutInput.remove(inputID) }
    observers?.ended(.input(inputID), cancelled ? .cancelled : end.operationEnd, revision)
    for waiter in waiters {
      waiter(Completion(revision: revision, end, base: base, wasCancelled: cancelled))
    }
  }
}

extension Completion.End {
  /// The end of the operation of the input.
  fileprivate var operationEnd: OperationEnd {
    if case .refused = self { .failed } else { .finished }
  }
}
