// SPDX-License-Identifier: Apache-2.0

internal import StateMachines
internal import StatewireJSON

// The inputs of clients.

extension StoreEntry {
  /// Passes an input of a subscription to the store.
  func send(
    reading reader: inout JSONReader, from subscription: Subscription,
    request: UnsafeRawBufferPointer?
  ) throws(InputError) -> SendResult? {
    beginFolding()
    defer { endFolding() }
    let sendResult: SendResult?
    do throws(InputError) {
      sendResult = try content.made.send(&reader, subscription.viewer)
      metrics.inputs.add()
    } catch {
      // A refused input may have caused publications before it was undone, also by the effects that
      // it cancelled.
      flush()
      for failure in folding?.failures ?? [] { report(failure, of: request) }
      folding?.failures = []
      throw error
    }
    if let sendResult, !sendResult.isReplied {
      if let request { awaitedReplies.add(sendResult.inputID, request, subscription) }
    } else {
      subscription.applied(request)
    }
    flush()
    return sendResult
  }

  /// The results that wait until an input, or the reply to one, has been folded.
  struct Folding {
    /// The callbacks of inputs that have settled.
    var settled: [() -> Void] = []
    /// Failures, which are reported with the request of the input.
    var failures: [JSONError] = []
  }

  /// Begins the folding of an input or of the reply to one.
  func beginFolding() { if folding == nil { folding = Folding() } }

  /// Ends the folding of an input or of the reply to one: reports failures, and calls the callbacks
  /// of inputs that have settled meanwhile.
  func endFolding() {
    guard let ended = folding.take() else { return }
    for error in ended.failures { report(error, of: nil) }
    for notify in ended.settled { notify() }
  }

  /// Calls `body` when an input is settled, after the update of its last effect.
  func whenSettled(_ inputID: InputID, _ body: @escaping (Completion) -> Void) {
    // Not weak, which would make all counting of references to the entry slower: the store releases
    // the closure at the latest when it is closed.
    store.whenSettled(inputID) { [self] completion in
      // The effects may have been ended by the input that is being folded. The update of that input
      // waits for its end and is sent first.
      guard folding != nil else { return body(completion) }
      folding?.settled.append { [store] in
        body(completion.at(store.revision))
      }
    }
  }

  /// Replaces the function that takes inputs of clients by what `replacement` makes of it.
  ///
  /// - Returns: The function before.
  func replaceSend(
    _ replacement: (@escaping StoreKind.Made.Send) -> StoreKind.Made.Send
  ) -> StoreKind.Made.Send {
    let send = content.made.send
    content.made.send = replacement(send)
    return send
  }
}
