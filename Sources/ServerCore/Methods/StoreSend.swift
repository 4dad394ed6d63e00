// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

extension Connection {
  /// `store/send`: the busiest method, read in place instead of through `Codable`.
  func storeSend(_ request: Request, _ shard: isolated Shard) throws(RPCError) {
    if member.refused != nil { try checkOrder(of: request) }
    guard running.count < settings.limits.openRequests else {
      throw RPCError(
        limit: .openRequests,
        "at most \(settings.limits.openRequests) requests may have effects running")
    }
    try spendInput()
    var params = try SendParams(request)
    if let sequence = params.sequence { member.came(sequence) }
    guard member.role == .driver else { throw RPCError(SessionError.observer) }
    if let sequence = params.sequence,
      try refusing({ () throws(SessionError) in try member.hasAccepted(sequence) })
    {
      if let refusal = member.refusal(of: sequence) { throw refusal }
      if let refusal = member.lateRefusal(of: sequence) { throw RPCError(refusal) }
      return try answerAgain(request, params, sequence, shard)
    }
    let attachment = try attachment(params.store, shard)
    let receipt = try refusing { () throws(SessionError) in
      try attachment.send(reading: &params.input, request: request.id)
    }
    // Frames are never sent from inside a fold, so an input that comes here is folded at once.
    guard let receipt else { throw RPCError(.internalError, "the input was queued") }
    if let sequence = params.sequence { member.accepted(sequence, receipt, attachment) }

    accepted(receipt, attachment, request, settle: params.settle)
    learnShape(of: request, params, shard)
  }

  /// Answers a request whose input has been accepted, now or when its effects have ended.
  func accepted(_ receipt: Receipt, _ attachment: Attachment, _ request: Request, settle: Bool) {
    if receipt.isSettled || !settle {
      reply(to: request, revision: receipt.revision, changed: receipt.changed)
    }
    if !receipt.isSettled {
      follow(request, attachment, receipt.ticket, from: receipt.base, answers: settle)
    }
  }

  /// Answers a request whose input was accepted before; it is not applied again.
  private func answerAgain(
    _ request: Request, _ params: SendParams, _ sequence: Int, _ shard: isolated Shard
  ) throws(RPCError) {
    // It was accepted, whatever has become of its store since.
    if let revision = member.session.revision(ofClosed: params.store.string) {
      return reply(to: request, revision: revision, changed: false)
    }
    let attachment = try attachment(params.store, shard)
    if params.settle, let ticket = member.running(sequence, attachment) {
      follow(request, attachment, ticket, from: nil, answers: true)
    } else {
      reply(to: request, revision: attachment.revision, changed: false)
    }
  }

  /// Remembers a request until its effects have ended, and answers it then if that is asked for.
  ///
  /// - Parameter base: The state before its input; nil if that was another request's.
  private func follow(
    _ request: Request, _ attachment: Attachment, _ ticket: Ticket, from base: StateMark?,
    answers: Bool
  ) {
    // A notification is remembered too: what it has running counts, and ends with the connection.
    let address = request.address
    let base = answers ? base : nil
    if answers, address != nil {
      request.batch?.open += 1
      attachment.answersEnd(of: ticket)
    }
    let number = running.add(
      RunningRequest(
        id: address?.id, attachment: attachment, ticket: ticket,
        address: answers ? address : nil))
    attachment.whenSettled(ticket) { [weak self] settlement in
      guard let self, let request = running.remove(number), let address = request.address else {
        return
      }
      writer.respond(to: address) { writer in
        // A repeat was accepted, as its answer says where it comes later still.
        if settlement.wasClosed, base != nil {
          writer.error(RPCError(.storeClosed, "the store was closed"))
        } else if let refusal = settlement.refusal {
          writer.error(RPCError(refusal))
        } else {
          let changed = base.map(attachment.hasChanged) ?? false
          writer.result { $0.accepted(at: settlement.revision, changed: changed) }
        }
      }
    }
  }
}

/// The parameters of `store/send`, with the input left where it stands.
struct SendParams {
  let store: JSONKey
  /// Stands before the input; paths of its errors start at the parameters.
  var input: JSONReader
  let settle: Bool
  /// Which of its frontend's inputs it is; nil where the frontend does not count them.
  let sequence: Int?
  /// The sequence as it stands in the text.
  let sequenceText: UnsafeRawBufferPointer?
  private let inputStart: Int

  /// The input as it stands in the text, once it has been read.
  var inputText: UnsafeRawBufferPointer { input.bytes(in: inputStart..<input.position) }

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
    // As far as the numbers of every language count.
    guard 1..<(1 << 53) ~= sequence else {
      throw reader.error(.value, "a sequence is 1 to 9007199254740991")
    }
    return sequence
  }

  private static func readFlag(_ reader: JSONReader) throws(JSONError) -> Bool {
    var reader = reader
    return try reader.readNullIfPresent() ? false : reader.readBool()
  }
}
