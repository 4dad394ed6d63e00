// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension StoreSend {
  /// The result of an input that was accepted.
  enum Outcome {
    /// The input was applied now.
    case accepted(SendResult, Subscription, settle: Bool)
    /// The input was accepted before, and the response waits for this end of it.
    case running(InputID, Subscription, RunningRequest.End)
    /// The input was accepted before, and the response does not wait; the store's current revision.
    case ended(Revision)
  }

  /// Carries out `store/send`; an input whose sequence was accepted before is not applied again.
  ///
  /// - Parameters:
  ///   - params: The parameters.
  ///   - id: The id of the request, as JSON text.
  ///   - participant: The client's place in its session.
  ///   - shard: The shard.
  ///   - beginSpan: Returns the span of the input; nil if it is not traced.
  /// - Throws: `RPCError`; nothing has changed then.
  static func respond(
    to params: inout SendParams, _ id: UnsafeRawBufferPointer?, _ participant: Participant,
    _ shard: isolated Shard, _ beginSpan: (Subscription) -> (any TraceSpan)?
  ) throws(RPCError) -> Outcome {
    guard participant.role == .driver else { throw RPCError(SessionError.observer) }
    if let sequence = params.sequence,
      try refusing({ () throws(SessionError) in try participant.hasAccepted(sequence) })
    {
      if let refusal = participant.refusal(of: sequence) { throw refusal }
      if let refusal = participant.lateRefusal(of: sequence) { throw RPCError(refusal) }
      return try repeated(params, sequence, participant, shard)
    }
    let subscription = try subscription(params.store, participant, shard)
    let span = beginSpan(subscription)
    let sendResult: SendResult?
    do throws(SessionError) {
      if let span {
        sendResult = try subscription.send(reading: &params.input, request: id, in: span)
      } else {
        sendResult = try subscription.send(reading: &params.input, request: id)
      }
    } catch {
      let error = RPCError(error)
      span?.end(with: error)
      throw error
    }
    span?.end(with: sendResult, subscription)
    // Updates are never sent from inside a fold, so this input is folded immediately.
    guard let sendResult else { throw RPCError(.internalError, "the input was queued") }
    if let sequence = params.sequence { participant.accepted(sequence, sendResult, subscription) }
    return .accepted(sendResult, subscription, settle: params.settle)
  }

  /// Returns the outcome of an input that was accepted before.
  private static func repeated(
    _ params: SendParams, _ sequence: Int, _ participant: Participant, _ shard: isolated Shard
  ) throws(RPCError) -> Outcome {
    // The input stays accepted, even if its store was closed since.
    if let revision = participant.session.revision(ofClosed: params.store.string) {
      return .ended(revision)
    }
    let subscription = try subscription(params.store, participant, shard)
    if let inputID = participant.running(sequence, subscription) {
      if params.settle { return .running(inputID, subscription, .effects) }
      // An exchange may refuse the input yet.
      if !subscription.isReplied(inputID) { return .running(inputID, subscription, .reply) }
    }
    return .ended(subscription.revision)
  }

  private static func subscription(
    _ name: JSONKey, _ participant: Participant, _ shard: isolated Shard
  ) throws(RPCError) -> Subscription {
    try refusing { () throws(SessionError) in try participant.subscription(name, isolation: shard) }
  }
}

/// The parameters of `store/send`; the input is not parsed yet.
struct SendParams {
  let store: JSONKey
  /// A reader positioned before the input; paths of its errors start at the parameters.
  var input: JSONReader
  let settle: Bool
  /// The number of the input among those of its frontend; nil if the frontend does not number them.
  let sequence: Int?
  /// The sequence as JSON text.
  let sequenceText: UnsafeRawBufferPointer?
  /// The trace of the client that the input belongs to.
  ///
  /// - Shape: As the header field `traceparent`.
  /// - Source: W3C Trace Context §3.2.
  let traceparent: String?
  private let inputStart: Int

  /// The input as JSON text; valid after the input was read.
  var inputText: UnsafeRawBufferPointer { input.bytes(in: inputStart..<input.position) }

  /// Finds the parameters of a request.
  ///
  /// - Throws: `RPCError` -32602 with the path in `data`.
  init(_ request: Request) throws(RPCError) {
    guard let members = try request.members() else {
      throw RPCError(
        invalidParams: JSONError(.missing, "a member is missing", path: [.key("store")]))
    }
    do throws(JSONError) {
      guard var store = members["store"] else { throw members.missing("store") }
      guard var input = members["input"] else { throw members.missing("input") }
      self.store = try store.readStringBytes()
      inputStart = input.nextValueOffset()
      self.input = input
      settle = if let flag = members["settle"] { try Self.readFlag(flag) } else { false }
      traceparent = if let text = members["traceparent"] { try Self.readText(text) } else { nil }
      if var number = members["sequence"] {
        let start = number.nextValueOffset()
        sequence = try Self.readSequence(&number)
        sequenceText = number.bytes(in: start..<number.position)
      } else {
        sequence = nil
        sequenceText = nil
      }
    } catch {
      throw RPCError(invalidParams: error)
    }
  }

  private static func readSequence(_ reader: inout JSONReader) throws(JSONError) -> Int? {
    if try reader.readNullIfPresent() { return nil }
    let sequence = try reader.readInt()
    // Greater integers are not exact in every language.
    guard 1..<(1 << 53) ~= sequence else {
      throw reader.error(.value, "a sequence must be from 1 to 9007199254740991")
    }
    return sequence
  }

  private static func readText(_ reader: JSONReader) throws(JSONError) -> String? {
    var reader = reader
    return try reader.readNullIfPresent() ? nil : reader.readString()
  }

  private static func readFlag(_ reader: JSONReader) throws(JSONError) -> Bool {
    var reader = reader
    return try reader.readNullIfPresent() ? false : reader.readBool()
  }
}
