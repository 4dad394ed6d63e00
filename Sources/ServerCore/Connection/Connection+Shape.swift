// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// Inputs that come as the one before them did, which nearly all do.
extension Connection {
  /// Takes an input whose message has the shape of one of the last two.
  ///
  /// - Returns: False if the message has to be read as a whole: nothing has been done about it then,
  ///   and whatever is wrong with it is found there.
  func sendAlike(_ message: UnsafeRawBufferPointer) -> Bool {
    guard let shape, isAuthorised, settings.limits.inputsPerSecond == nil, member.refused == nil,
      member.role == .driver, !member.session.isEnded,
      running.count < settings.limits.openRequests
    else { return false }
    let limits = JSONLimits(maximumDepth: settings.limits.depth)
    if let match = shape.match(message, limits: limits) { return take(match, shape, message) }
    guard let other = otherShape, let match = other.match(message, limits: limits) else {
      return false
    }
    // Whoever uses two stores often writes to one for a while.
    swap(&self.shape, &otherShape)
    return take(match, other, message)
  }

  private func take(
    _ match: SendShape.Match, _ shape: SendShape, _ message: UnsafeRawBufferPointer
  ) -> Bool {
    guard let attachment = member.held(shape.store) else { return false }
    var match = match
    let request = Request(id: match.id, text: message, params: .absent, batch: nil)
    do throws(SessionError) {
      if let sequence = match.sequence {
        let isKnown = try member.hasAccepted(sequence)
        guard sequence > 0, !isKnown else { return false }
      }
      guard let receipt = try attachment.send(reading: &match.input, request: match.id) else {
        reply(to: request, error: RPCError(.internalError, "the input was queued"))
        return true
      }
      if let sequence = match.sequence { member.accepted(sequence, receipt, attachment) }
      if shapeMisses > 0 { shapeMisses -= 1 }
      accepted(receipt, attachment, request, settle: shape.settle)
      return true
    } catch {
      // It has been folded, and taken back: nothing of it may be done again.
      guard case .unencodable = error else { return false }
      let error = RPCError(error)
      remember(error, of: request)
      reply(to: request, error: error)
      return true
    }
  }

  // A peer that never writes alike is not learned from for ever.
  private static var maximumMisses: UInt8 { 16 }

  /// Remembers how an input came that was accepted.
  func learnShape(of request: Request, _ params: SendParams, _ shard: isolated Shard) {
    guard request.batch == nil, shapeMisses < Self.maximumMisses else { return }
    shapeMisses += 1
    guard let learned = SendShape(of: request.text, params, id: request.id) else { return }
    otherShape = shape
    shape = common.shapes.shared(learned)
  }
}
