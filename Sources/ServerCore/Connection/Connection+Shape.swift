// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// Inputs that come as the one before them did, which nearly all do.
extension Connection {
  /// Takes an input whose message has the shape of the last one.
  ///
  /// - Returns: False if the message has to be read as a whole: nothing has been done about it then,
  ///   and whatever is wrong with it is found there.
  func sendAlike(_ message: UnsafeRawBufferPointer) -> Bool {
    guard let shape, isAuthorised, settings.limits.inputsPerSecond == nil, member.refused == nil,
      member.role == .driver,
      !member.session.isEnded, running.count < settings.limits.openRequests,
      var match = shape.match(message, limits: JSONLimits(maximumDepth: settings.limits.depth)),
      let attachment = member.held(shape.store)
    else { return false }
    do throws(SessionError) {
      if let sequence = match.sequence {
        let isKnown = try member.hasAccepted(sequence)
        guard sequence > 0, !isKnown else { return false }
      }
      guard let receipt = try attachment.send(reading: &match.input, request: match.id) else {
        fail(RPCError(.internalError, "the input was queued"))
        return true
      }
      if let sequence = match.sequence { member.accepted(sequence, receipt, attachment) }
      shapeMisses = 0
      let request = Request(id: match.id, text: message, params: .absent, batch: nil)
      accepted(receipt, attachment, request, settle: shape.settle)
      return true
    } catch {
      return false
    }
  }

  // A peer that never writes alike is not learned from for ever.
  private static var maximumMisses: UInt8 { 16 }

  /// Remembers how an input came that was accepted.
  func learnShape(of request: Request, _ params: SendParams) {
    guard request.batch == nil, shapeMisses < Self.maximumMisses else { return }
    shapeMisses += 1
    shape = SendShape(of: request.text, params, id: request.id).map(settings.shapes.shared)
  }
}
