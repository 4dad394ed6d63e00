// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol

// The spans of inputs. An input of a server without tracing pays a comparison.
extension Connection {
  /// Returns true if the next input is sampled.
  func sampleNext() -> Bool {
    if inputsToSample == 0 { inputsToSample = settings.tracer?.distanceToSample() ?? .max }
    inputsToSample -= 1
    let isSampled = inputsToSample == 0
    isNextSampled = isSampled
    return isSampled
  }

  /// Begins the span of an input, which is not a repeated one.
  ///
  /// - Parameters:
  ///   - traceparent: The span of the client; nil if the request has none.
  ///   - subscription: The client's subscription to the store.
  /// - Returns: The span; nil if the input is not traced.
  func beginSpan(
    continuing traceparent: String?, _ subscription: Subscription
  ) -> (any TraceSpan)? {
    guard let tracer = settings.tracer else { return nil }
    let isSampled = isNextSampled ?? sampleNext()
    isNextSampled = nil
    guard isSampled || traceparent != nil else { return nil }
    let span = tracer.begin(subscription.kind, continuing: traceparent, isSampled: isSampled)
    if let session = participant.session.handle {
      span?.add([("statewire.session", session.abbreviated)])
    }
    return span
  }
}

extension TraceSpan {
  /// Ends the span of an input with the last of its effects.
  func end(with sendResult: SendResult?, _ subscription: Subscription) {
    guard let sendResult, !sendResult.isSettled else { return end(.finished) }
    subscription.whenSettled(sendResult.inputID) { completion in
      if let refusal = completion.refusal { return self.end(with: RPCError(refusal)) }
      self.end(completion.wasClosed || completion.wasCancelled ? .cancelled : .finished)
    }
  }

  /// Ends the span of an input that was refused.
  func end(with error: RPCError) {
    add([("error.type", error.code.name ?? "\(error.code.rawValue)")])
    end(.failed)
  }
}
