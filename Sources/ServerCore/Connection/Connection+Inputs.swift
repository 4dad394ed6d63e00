// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// Inputs, and requests whose effects have not ended.
extension Connection {
  /// Carries out `store/send`, the most frequent method; it is read in place instead of through
  /// `Codable`.
  func storeSend(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    if participant.refused != nil { try checkOrder(of: request) }
    guard running.count < settings.limits.openRequests else {
      throw RPCError(
        limit: .openRequests,
        "at most \(settings.limits.openRequests) requests may have running effects; send it later")
    }
    try spendInput()
    var params = try SendParams(request)
    if let sequence = params.sequence { participant.came(sequence) }
    let traceparent = params.traceparent
    var isTraced = false
    let outcome = try StoreSend.respond(to: &params, request.id, participant, shard) {
      let span = beginSpan(continuing: traceparent, $0)
      isTraced = span != nil
      return span
    }
    respond(to: request, outcome)
    // A traced input is on the slow path although a template may match it.
    if case .accepted = outcome, !isTraced { learnTemplate(of: request, params) }
  }

  /// Responds to an accepted input, now or when its effects have ended.
  func respond(to request: Request, _ outcome: StoreSend.Outcome) {
    switch outcome {
    case .accepted(let sendResult, let subscription, let settle):
      respond(to: request, sendResult, subscription, settle: settle)
    case .running(let inputID, let subscription, let end):
      watch(request, subscription, inputID, from: nil, isFirst: false, respondingAt: end)
    case .ended(let revision): reply(to: request, revision: revision, changed: false)
    }
  }

  /// Responds to an input that was accepted now.
  func respond(
    to request: Request, _ sendResult: SendResult, _ subscription: Subscription, settle: Bool
  ) {
    let end: RunningRequest.End? = settle ? .effects : sendResult.isReplied ? nil : .reply
    if sendResult.isSettled || end == nil {
      reply(to: request, revision: sendResult.revision, changed: sendResult.changed)
    }
    if !sendResult.isSettled {
      // If no immediate action has changed the view, the state before the first change by a reply counts,
      // because earlier inputs may change it meanwhile.
      let base = sendResult.changed || sendResult.isReplied ? sendResult.base : nil
      watch(request, subscription, sendResult.inputID, from: base, isFirst: true, respondingAt: end)
    }
  }

  /// Keeps a request in `running` until its effects have ended.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - subscription: The client's subscription to the store.
  ///   - inputID: The input whose effects run.
  ///   - base: The state before the input; nil for that before its replies, or if an earlier request
  ///     sent it.
  ///   - isFirst: False if an earlier request sent the input.
  ///   - end: The end that the response waits for; nil if it does not wait.
  private func watch(
    _ request: Request, _ subscription: Subscription, _ inputID: InputID, from base: StateMark?,
    isFirst: Bool, respondingAt end: RunningRequest.End?
  ) {
    // A notification is kept, too: its effects count, and are cancelled with the connection.
    let address = request.address
    // The state is retained no longer than it is needed.
    let baseAtEnd = end == .effects && address != nil ? base : nil
    if end != nil, address != nil { request.batch?.open += 1 }
    if end == .effects, address != nil { subscription.respondsAtEnd(of: inputID) }
    let waiting = RunningRequest(
      of: self, id: address?.id, subscription: subscription, inputID: inputID,
      address: end == nil ? nil : address, end: end ?? .effects)
    running.add(waiting)
    if end == .reply {
      subscription.whenReplied(inputID) { completion in
        guard let connection = waiting.connection,
          let address = connection.running.takeAddress(of: waiting)
        else { return }
        connection.respond(to: address, completion, from: base, waiting, isFirst: isFirst)
      }
    }
    subscription.whenSettled(inputID) { completion in
      guard let connection = waiting.connection else { return }
      guard let address = connection.running.remove(waiting) else {
        return connection.output.requestEnded()
      }
      connection.respond(to: address, completion, from: baseAtEnd, waiting, isFirst: isFirst)
    }
  }

  /// Responds to an input whose effects, or whose exchanges, have ended.
  ///
  /// - Parameter isFirst: False for a repeated input: it was accepted, and a repeat after the closing
  ///   of the store also gets a result.
  private func respond(
    to address: ReplyAddress, _ completion: Completion, from base: StateMark?,
    _ request: RunningRequest, isFirst: Bool
  ) {
    let base = isFirst ? base ?? completion.base : nil
    let changed = base.map(request.subscription.hasChanged) ?? false
    let error: RPCError? =
      if completion.wasClosed, isFirst {
        RPCError(.storeClosed, "the store was closed")
      } else {
        completion.refusal.map { RPCError($0) }
      }
    if let error { writer.count(error) }
    writer.respond(to: address) { writer in
      if let error {
        writer.error(error)
      } else {
        writer.result { $0.accepted(at: completion.revision, changed: changed) }
      }
    }
  }
}
