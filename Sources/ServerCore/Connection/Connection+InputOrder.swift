// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol

// What is refused only because too much came at once keeps its place among the inputs that a
// frontend numbers. Whoever loses the answers is told the last number that was accepted: were a later
// one accepted meanwhile, the refused one would seem to be as well.
extension Connection {
  /// Remembers a refused input of a frontend that numbers its inputs.
  ///
  /// Later inputs wait until one that was refused for the moment has come again. One that was refused for
  /// good may come again as well, where its response was lost; if a later input was accepted meanwhile, it
  /// would seem to be accepted.
  func remember(_ refusal: RPCError, of request: Request) {
    guard participant.name != nil, refusal.code != .outOfOrder, let sequence = sequence(of: request)
    else { return }
    if refusal.isForNow {
      participant.refusedForNow(sequence)
    } else {
      participant.refusedForGood(sequence, refusal)
    }
  }

  /// Refuses an input that comes behind one which was refused.
  func checkOrder(of request: Request) throws(RPCError) {
    guard let sequence = sequence(of: request) else { return }
    try refusing { () throws(SessionError) in try participant.checkOrder(sequence) }
  }

  private func sequence(of request: Request) -> Int? {
    // What cannot be read has no place.
    (try? SendParams(request))?.sequence
  }
}

extension RPCError {
  /// Whether the same request may be taken at another time, whatever is in it.
  var isForNow: Bool {
    guard code == .limit, let name = data?.object?["limit"]?.string else { return false }
    return switch LimitName(rawValue: name) {
    case .inputsPerSecond, .openRequests, .outboxBytes: true
    default: false
    }
  }
}
