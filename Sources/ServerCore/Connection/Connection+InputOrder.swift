// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// The order of inputs that a frontend numbers. An input that a rate or a limit has refused keeps
// its place: later inputs are refused until it was sent again. Reason: `session/attach` reports the
// last accepted number to a client that has lost responses. If a later input had been accepted, the
// refused one would seem accepted, too.
extension Connection {
  /// Records the refusal of a numbered input.
  ///
  /// After a temporary refusal, later inputs are refused until the same input was sent again. After
  /// a permanent refusal, the error is kept: the client may send the input again if it has lost the
  /// response, and must not find it accepted because a later input was.
  func remember(_ refusal: RPCError, of request: Request) {
    guard participant.name != nil, refusal.code != .outOfOrder, let sequence = sequence(of: request)
    else { return }
    if refusal.isTemporary {
      participant.refusedTemporarily(sequence)
    } else {
      participant.refusedPermanently(sequence, refusal)
    }
  }

  /// Refuses an input that comes after a temporarily refused one.
  ///
  /// - Throws: `RPCError` -32019.
  func checkOrder(of request: Request) throws(RPCError) {
    guard let sequence = sequence(of: request) else { return }
    try refusing { () throws(SessionError) in try participant.checkOrder(sequence) }
  }

  private func sequence(of request: Request) -> Int? {
    // An unreadable request has no place in the order.
    (try? SendParams(request))?.sequence
  }
}

extension RPCError {
  /// True for a temporary refusal: the same request may be accepted later.
  var isTemporary: Bool {
    guard code == .limit, let name = data?.object?["limit"]?.string else { return false }
    return switch LimitName(rawValue: name) {
    case .inputsPerSecond, .openRequests, .outboxBytes: true
    default: false
    }
  }
}
