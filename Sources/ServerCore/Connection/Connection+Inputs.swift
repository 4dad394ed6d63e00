// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// Inputs, and the requests whose effects have not ended.
extension Connection {
  /// `store/send`: the busiest method, read in place instead of through `Codable`.
  func storeSend(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    if participant.refused != nil { try checkOrder(of: request) }
    guard running.count < settings.limits.openRequests else {
      throw RPCError(
        limit: .openRequests,
        "at most \(settings.limits.openRequests) requests may have effects running")
    }
    try spendInput()
    var params = try SendParams(request)
    if let sequence = params.sequence { participant.came(sequence) }
    let outcome = try StoreSend.respond(to: &params, request.id, participant, shard)
    respond(to: request, outcome)
    if case .accepted = outcome { learnTemplate(of: request, params) }
  }

  /// Responds to an accepted input, now or when its effects have ended.
  func respond(to request: Request, _ outcome: StoreSend.Outcome) {
    switch outcome {
    case .accepted(let receipt, let subscription, let settle):
      respond(to: request, receipt, subscription, settle: settle)
    case .running(let inputID, let subscription):
      watch(request, subscription, inputID, from: nil, responds: true)
    case .ended(let revision): reply(to: request, revision: revision, changed: false)
    }
  }

  /// Responds to an input that was accepted now.
  func respond(
    to request: Request, _ receipt: SendResult, _ subscription: Subscription, settle: Bool
  ) {
    if receipt.isSettled || !settle {
      reply(to: request, revision: receipt.revision, changed: receipt.changed)
    }
    if !receipt.isSettled {
      watch(request, subscription, receipt.inputID, from: receipt.base, responds: settle)
    }
  }

  /// Remembers a request until its effects have ended.
  ///
  /// - Parameters:
  ///   - base: The state before its input; nil if that was another request's.
  ///   - responds: True if the response waits for that.
  private func watch(
    _ request: Request, _ subscription: Subscription, _ inputID: InputID, from base: StateMark?,
    responds: Bool
  ) {
    // A notification is remembered too: what it has running counts, and ends with the connection.
    let address = request.address
    let base = responds ? base : nil
    if responds, address != nil {
      request.batch?.open += 1
      subscription.respondsAtEnd(of: inputID)
    }
    let number = running.add(
      RunningRequest(
        id: address?.id, subscription: subscription, inputID: inputID,
        address: responds ? address : nil))
    subscription.whenSettled(inputID) { [weak self] settlement in
      guard let self, let request = running.remove(number), let address = request.address else {
        return
      }
      writer.respond(to: address) { writer in
        // A repeat was accepted, as its response says where it comes later still.
        if settlement.wasClosed, base != nil {
          writer.error(RPCError(.storeClosed, "the store was closed"))
        } else if let refusal = settlement.refusal {
          writer.error(RPCError(refusal))
        } else {
          let changed = base.map(subscription.hasChanged) ?? false
          writer.result { $0.accepted(at: settlement.revision, changed: changed) }
        }
      }
    }
  }
}
