// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// The fast path: inputs that match the request template of an earlier one, as most inputs do.
extension Connection {
  /// Carries out an input whose message matches one of the client's templates.
  ///
  /// - Returns: False if the message must be parsed completely. It had no effect then, and the slow
  ///   path reports its faults.
  func sendMatchingTemplate(_ message: UnsafeRawBufferPointer) -> Bool {
    guard let template = templates.current, isAuthorised, settings.limits.inputsPerSecond == nil,
      participant.refused == nil, participant.role == .driver, !participant.session.isEnded,
      running.count < settings.limits.openRequests
    else { return false }
    // Spans are begun on the slow path only.
    if settings.tracer != nil, sampleNext() { return false }
    let limits = JSONLimits(maximumDepth: settings.limits.depth)
    if let match = template.match(message, limits: limits) { return take(match, template, message) }
    guard let other = templates.other, let match = other.match(message, limits: limits) else {
      return false
    }
    templates.swap()
    return take(match, other, message)
  }

  private func take(
    _ match: RequestTemplate.Match, _ template: RequestTemplate, _ message: UnsafeRawBufferPointer
  ) -> Bool {
    guard let subscription = participant.existingSubscription(template.store) else { return false }
    var match = match
    let request = Request(id: match.id, text: message, params: .absent, batch: nil)
    do throws(SessionError) {
      if let sequence = match.sequence {
        let isKnown = try participant.hasAccepted(sequence)
        guard sequence > 0, !isKnown else { return false }
      }
      guard let sendResult = try subscription.send(reading: &match.input, request: match.id) else {
        reply(to: request, error: RPCError(.internalError, "the input was queued"))
        return true
      }
      if let sequence = match.sequence { participant.accepted(sequence, sendResult, subscription) }
      templates.hit()
      respond(to: request, sendResult, subscription, settle: template.settle)
      return true
    } catch {
      // The input was folded and undone; the slow path must not fold it again.
      guard case .unencodable = error else { return false }
      let error = RPCError(error)
      remember(error, of: request)
      reply(to: request, error: error)
      return true
    }
  }

  /// Learns the template of an accepted input.
  func learnTemplate(of request: Request, _ params: SendParams) {
    // A template would keep the trace of one input.
    guard request.batch == nil, params.traceparent == nil, templates.miss(),
      let learned = RequestTemplate(of: request.text, params, id: request.id)
    else { return }
    templates.learn(common.templates.shared(learned))
  }
}
