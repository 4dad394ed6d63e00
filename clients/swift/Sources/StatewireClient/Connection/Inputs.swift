// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol

/// One input, from `send` until its result.
final class Input {
  typealias Completion = (Result<StoreSend.Result, any Error>) -> Void

  let sequence: Int
  let store: String
  /// The input as JSON.
  let text: [UInt8]
  let wantsSettled: Bool
  fileprivate(set) var completion: Completion
  /// Its request id on the current connection; nil if it was not sent on that.
  fileprivate(set) var request: Int?
  fileprivate var wasSent = false
  /// True after a temporary refusal, until it is sent again.
  fileprivate var isRefused = false
  fileprivate var isCancelled = false

  fileprivate init(
    sequence: Int, store: String, text: [UInt8], wantsSettled: Bool,
    completion: @escaping Completion
  ) {
    self.sequence = sequence
    self.store = store
    self.text = text
    self.wantsSettled = wantsSettled
    self.completion = completion
  }
}

/// The pending inputs of a client: numbered, sent again after a lost connection, applied exactly
/// once.
final class Inputs {
  /// An input that every store refuses. It uses up the sequence number of a cancelled input.
  private static let refusedByAll = Array(#"{"type":""}"#.utf8)

  private let maximumCount: Int
  private let backoff: Backoff
  private var last = 0
  private var waiting: [Int: Input] = [:]
  private var connection: Connection?
  private var refusals = 0
  /// True while refused inputs wait to be sent again.
  private var isPausing = false
  private var sendLater: (Duration) -> Void = { _ in }
  /// Notified when another input is accepted.
  var capacity = Signal()

  init(maximumCount: Int, backoff: Backoff) {
    self.maximumCount = maximumCount
    self.backoff = backoff
  }

  var hasCapacity: Bool { waiting.count < maximumCount }

  /// Returns true while an input is pending.
  func isOpen(_ input: Input) -> Bool { waiting[input.sequence] === input }

  /// The pending inputs in the order in which they were sent.
  private var inOrder: [Input] { waiting.values.sorted { $0.sequence < $1.sequence } }
}

// MARK: - Called by the client

extension Inputs {
  /// Sends an input, immediately or after the next connection.
  ///
  /// - Throws: `StatewireError` with the code `busy`.
  func add(
    store: String, text: [UInt8], wantsSettled: Bool, completion: @escaping Input.Completion
  ) throws -> Input {
    guard hasCapacity else {
      throw StatewireError(.tooManyPending, "\(maximumCount) inputs are pending")
    }
    last += 1
    let input = Input(
      sequence: last, store: store, text: text, wantsSettled: wantsSettled, completion: completion)
    waiting[last] = input
    send(input)
    // Its frame exceeds a limit and was not sent, so its number is free.
    if !isOpen(input) { last -= 1 }
    return input
  }

  /// Cancels an input and its effects on the server.
  ///
  /// If it was sent on this connection, the server may wait for its sequence number. So the input
  /// is kept until the response, and sent again without its content if necessary.
  func cancel(_ input: Input) {
    guard isOpen(input) else { return }
    input.completion = { _ in }
    input.isCancelled = true
    if let request = input.request, let connection {
      connection.cancel(request)
    } else if !input.isRefused {
      done(input)
    }
  }

  /// Sends all pending inputs over a new connection. The server applies none of them twice.
  ///
  /// - Parameters:
  ///   - connection: The connection, attached to the session.
  ///   - accepted: The last sequence number that the server has accepted from this frontend.
  ///   - sendLater: Schedules a call of `sendRefused` after a delay.
  func connected(
    _ connection: Connection, accepted: Int?, sendLater: @escaping (Duration) -> Void
  ) {
    last = max(last, accepted ?? 0)
    self.connection = connection
    self.sendLater = sendLater
    (refusals, isPausing) = (0, false)
    for input in inOrder { send(input) }
  }

  /// Handles the end of the connection.
  func disconnected() {
    connection = nil
    (refusals, isPausing) = (0, false)
    for input in inOrder {
      (input.request, input.isRefused) = (nil, false)
      if input.isCancelled { done(input) }
    }
  }

  /// Fails the inputs that were sent to a lost session: it is unknown whether they were applied.
  func sessionWasLost() {
    for input in inOrder where input.wasSent {
      done(input)
      input.completion(.failure(StatewireError(.sessionLost, "the session has expired")))
    }
  }

  /// Fails all pending inputs and accepts no further ones.
  func end(_ error: any Error) {
    connection = nil
    let pending = inOrder
    waiting = [:]
    for input in pending { input.completion(.failure(error)) }
    capacity.end()
  }

  /// Sends temporarily refused inputs again, in order.
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
      // An earlier input was refused temporarily; the server would refuse this one too.
      input.isRefused = true
      return
    }
    let text = input.isCancelled ? Self.refusedByAll : input.text
    // Set below, before a response can arrive: only an ended connection and a limit call back
    // immediately.
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
    } completion: { result in
      self.completed(input, request, result)
    }
    (input.request, input.wasSent) = (request, true)
  }

  private func completed(
    _ input: Input, _ request: Int, _ result: Result<JSONValue, any Error>
  ) {
    guard isOpen(input) else { return }
    switch result {
    case .success(let result):
      refusals = 0
      done(input)
      input.completion(
        .success(
          StoreSend.Result(
            revision: result["revision"]?.int ?? 0, changed: result["changed"]?.bool ?? false)))
    case .failure(let error as RPCError) where error.isTemporary:
      // Otherwise it was sent again already.
      if input.request == request { refused(input, error) }
    case .failure(let error as RPCError):
      refusals = 0
      done(input)
      input.completion(.failure(error))
    case .failure:
      // The connection was lost. The next one sends the input again.
      break
    }
  }

  /// Sends an input again after a delay, before all inputs with higher sequence numbers.
  ///
  /// The server will refuse those that were sent already. If it accepted one with a higher number
  /// first, it would treat the lower ones as repeated.
  private func refused(_ refused: Input, _ error: RPCError) {
    // The server may wait for an input whose frame it has refused.
    if error.code == .outOfOrder, let place = error.data?["sequence"]?.int, waiting[place] == nil {
      let filler = Input(
        sequence: place, store: refused.store, text: Self.refusedByAll, wantsSettled: false
      ) { _ in }
      (filler.isCancelled, filler.isRefused) = (true, true)
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
    capacity.notify()
  }
}

extension RPCError {
  /// True if the same input may be accepted later. It keeps its sequence number.
  fileprivate var isTemporary: Bool {
    code == .outOfOrder
      || code == .limit && ["inputsPerSecond", "openRequests", "outboxBytes"].contains(limit)
  }
}
