// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// One input, from when it is sent until it is answered.
final class Input {
  typealias Answered = (Result<StoreSend.Result, any Error>) -> Void

  let sequence: Int
  let store: String
  /// The input as JSON.
  let text: [UInt8]
  let wantsSettled: Bool
  fileprivate(set) var answered: Answered
  /// Its id on the connection that is, if it was sent on that.
  fileprivate(set) var request: Int?
  fileprivate var wasSent = false
  /// Whether it was refused for the moment, and waits until it is sent again.
  fileprivate var isRefused = false
  fileprivate var isGivenUp = false

  fileprivate init(
    sequence: Int, store: String, text: [UInt8], wantsSettled: Bool, answered: @escaping Answered
  ) {
    self.sequence = sequence
    self.store = store
    self.text = text
    self.wantsSettled = wantsSettled
    self.answered = answered
  }
}

/// All inputs of a client that are not answered yet: numbered, sent again after a lost connection,
/// applied exactly once.
final class Inputs {
  /// Refused by every store, so that a number whose input was given up keeps no place.
  private static let nothing = Array(#"{"type":""}"#.utf8)

  private let maximumCount: Int
  private let backoff: Backoff
  private var last = 0
  private var waiting: [Int: Input] = [:]
  private var connection: Connection?
  private var refusals = 0
  /// Whether those that were refused are to be sent again in a while.
  private var isPausing = false
  private var sendLater: (Duration) -> Void = { _ in }
  /// Told when there is room for another one.
  var room = News()

  init(maximumCount: Int, backoff: Backoff) {
    self.maximumCount = maximumCount
    self.backoff = backoff
  }

  var hasRoom: Bool { waiting.count < maximumCount }

  /// Whether an input is not answered yet.
  func isOpen(_ input: Input) -> Bool { waiting[input.sequence] === input }

  /// Those that are not answered, in the order in which they were sent.
  private var inOrder: [Input] { waiting.values.sorted { $0.sequence < $1.sequence } }
}

// MARK: - What the client does

extension Inputs {
  /// Sends an input, now or as soon as there is a connection.
  ///
  /// - Throws: `StatewireError` with the code `busy`.
  func add(
    store: String, text: [UInt8], wantsSettled: Bool, answered: @escaping Input.Answered
  ) throws -> Input {
    guard hasRoom else {
      throw StatewireError(.busy, "\(maximumCount) inputs wait for their answers")
    }
    last += 1
    let input = Input(
      sequence: last, store: store, text: text, wantsSettled: wantsSettled, answered: answered)
    waiting[last] = input
    send(input)
    // Its frame is too large for the server and was not sent, so its number is free.
    if !isOpen(input) { last -= 1 }
    return input
  }

  /// Nobody waits for this one any more. What goes on with it is cancelled.
  ///
  /// On a connection that has seen it, its number may keep a place, in which it has to come again: with
  /// nothing behind it. So it is remembered until it is answered.
  func giveUp(_ input: Input) {
    guard isOpen(input) else { return }
    input.answered = { _ in }
    input.isGivenUp = true
    if let request = input.request, let connection {
      connection.cancel(request)
    } else if !input.isRefused {
      done(input)
    }
  }

  /// There is a connection; what is not answered is sent again. The server repeats none.
  ///
  /// - Parameters:
  ///   - connection: The connection, which is in the session.
  ///   - accepted: The last number that the server has accepted from this frontend.
  ///   - sendLater: Has `sendRefused` called after a while.
  func connected(
    _ connection: Connection, accepted: Int?, sendLater: @escaping (Duration) -> Void
  ) {
    last = max(last, accepted ?? 0)
    self.connection = connection
    self.sendLater = sendLater
    (refusals, isPausing) = (0, false)
    for input in inOrder { send(input) }
  }

  /// The connection has ended.
  func disconnected() {
    connection = nil
    (refusals, isPausing) = (0, false)
    for input in inOrder {
      (input.request, input.isRefused) = (nil, false)
      if input.isGivenUp { done(input) }
    }
  }

  /// There is another session now; whether the old one has seen what was sent to it is not known.
  func sessionWasLost() {
    for input in inOrder where input.wasSent {
      done(input)
      input.answered(.failure(StatewireError(.sessionLost, "the session is gone")))
    }
  }

  /// Nothing will be sent any more.
  func end(_ error: any Error) {
    connection = nil
    let left = inOrder
    waiting = [:]
    for input in left { input.answered(.failure(error)) }
    room.end()
  }

  /// Those that were refused for the moment are sent again, in their order.
  func sendRefused() {
    guard isPausing else { return }
    isPausing = false
    for input in inOrder where input.isRefused {
      input.isRefused = false
      send(input)
    }
  }
}

// MARK: - Sending

extension Inputs {
  private func send(_ input: Input) {
    guard let connection, connection.end == nil else { return }
    if isPausing {
      // One before it was refused for the moment, and would have this one refused as well.
      input.isRefused = true
      return
    }
    let text = input.isGivenUp ? Self.nothing : input.text
    // Set below, before any answer can come: only an ended connection and a limit answer at once.
    var request = 0
    request = connection.start(
      "store/send", store: input.store, settles: input.wantsSettled
    ) { writer in
      writer.beginObject()
      writer.key("store")
      writer.value(input.store)
      writer.key("sequence")
      writer.value(input.sequence)
      if input.wantsSettled {
        writer.key("settle")
        writer.value(true)
      }
      writer.key("input")
      writer.raw(text)
      writer.endObject()
    } answered: { answer in
      self.answered(input, request, answer)
    }
    (input.request, input.wasSent) = (request, true)
  }

  private func answered(
    _ input: Input, _ request: Int, _ answer: Result<JSONValue, any Error>
  ) {
    guard isOpen(input) else { return }
    switch answer {
    case .success(let result):
      refusals = 0
      done(input)
      input.answered(
        .success(
          StoreSend.Result(
            revision: result["revision"]?.int ?? 0, changed: result["changed"]?.bool ?? false)))
    case .failure(let error as RPCError) where error.isForTheMoment:
      // Otherwise it comes again already.
      if input.request == request { refused(input, error) }
    case .failure(let error as RPCError):
      refusals = 0
      done(input)
      input.answered(.failure(error))
    case .failure:
      // The connection was lost: it is sent again on the next one.
      break
    }
  }

  /// It comes again after a while, and before all others with higher numbers.
  ///
  /// Those that are on their way will be refused as well. Were one of a higher number accepted before
  /// they come again, the server would take them for repeated.
  private func refused(_ refused: Input, _ error: RPCError) {
    // The server may wait for an input whose frame it has refused meanwhile.
    if error.code == .outOfOrder, let place = error.data?["sequence"]?.int, waiting[place] == nil {
      let filler = Input(
        sequence: place, store: refused.store, text: Self.nothing, wantsSettled: false
      ) { _ in }
      (filler.isGivenUp, filler.isRefused) = (true, true)
      waiting[place] = filler
    }
    for input in waiting.values where input.sequence >= refused.sequence {
      (input.request, input.isRefused) = (nil, true)
    }
    guard !isPausing else { return }
    isPausing = true
    sendLater(backoff.delay(after: refusals))
    refusals += 1
  }

  private func done(_ input: Input) {
    waiting[input.sequence] = nil
    room.tell()
  }
}

extension RPCError {
  /// Whether the same input may be accepted later, and keeps its place until then.
  fileprivate var isForTheMoment: Bool {
    code == .outOfOrder
      || code == .limit && ["inputsPerSecond", "openRequests", "outboxBytes"].contains(limit)
  }
}
