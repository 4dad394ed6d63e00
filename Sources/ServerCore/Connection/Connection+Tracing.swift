// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireProtocol

// The spans of inputs. An input that is not traced pays a comparison.
extension Connection {
  /// Carries out an input within its span, which ends with the effects of the input.
  ///
  /// - Parameters:
  ///   - traceparent: The trace of the client that the input belongs to, if there is one.
  ///   - body: Carries out the input. Its span is nil if the input is not traced.
  func tracing(
    _ traceparent: String?, _ body: ((any TraceSpan)?) throws(RPCError) -> StoreSend.Outcome
  ) throws(RPCError) -> StoreSend.Outcome {
    guard let span = beginSpan(continuing: traceparent) else { return try body(nil) }
    do throws(RPCError) {
      let outcome = try body(span)
      if case .accepted(let result, let subscription, _) = outcome, !result.isSettled {
        subscription.whenSettled(result.inputID) { completion in
          span.end(
            completion.refusal != nil ? .failed : completion.wasClosed ? .cancelled : .finished)
        }
      } else {
        span.end(.finished)
      }
      return outcome
    } catch {
      span.describe(nil, [("error.type", error.code.name ?? "\(error.code.rawValue)")])
      span.end(.failed)
      throw error
    }
  }

  private func beginSpan(continuing traceparent: String?) -> (any TraceSpan)? {
    guard let tracer = settings.tracer else { return nil }
    let isSampled = isNextSampled ?? tracer.samples()
    isNextSampled = nil
    guard isSampled || traceparent != nil else { return nil }
    let span = tracer.begin(continuing: traceparent)
    if let session = participant.session.handle {
      span.describe(nil, [("statewire.session", session.abbreviated)])
    }
    return span
  }
}
