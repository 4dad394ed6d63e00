// SPDX-License-Identifier: Apache-2.0

internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// One request or notification in hand; valid while its message is.
struct Request {
  /// The id as it stands in the text; nil for a notification, which gets no answer.
  let id: UnsafeRawBufferPointer?
  /// The whole request as it stands in its message.
  let text: UnsafeRawBufferPointer
  let params: Envelope.Params
  /// The batch that the answer belongs to.
  let batch: Batch?

  /// The text of the parameters, an object; nil if there are none.
  /// - Throws: `RPCError` -32602 if they are given by position.
  func namedParams() throws(RPCError) -> UnsafeRawBufferPointer? { try members()?.text }

  /// The members of the parameters, an object; nil if there are none.
  /// - Throws: `RPCError` -32602 if they are given by position.
  func members() throws(RPCError) -> JSONMembers? {
    switch params {
    case .object(let members): return members
    case .absent, .unusable: return nil
    case .array:
      throw RPCError(invalidParams: JSONError(.type, "parameters are given by name"))
    }
  }

  /// Reads the parameters as a type; without any, from `{}`.
  /// - Throws: `RPCError` -32602 with the path in `data`.
  func decode<Params: Decodable>(
    _ type: Params.Type = Params.self, limits: ServerLimits
  ) throws(RPCError) -> Params {
    let params = try namedParams()
    do throws(JSONError) {
      guard let params else { return try JSON.decode(type, from: Array("{}".utf8)) }
      return try JSON.decode(type, from: params, limits: JSONLimits(maximumDepth: limits.depth))
    } catch {
      throw RPCError(invalidParams: error)
    }
  }

  /// Reads the parameters as a type that reads itself; without any, from `{}`.
  /// - Throws: `RPCError` -32602 with the path in `data`.
  func read<Params: JSONReadable>(
    _ type: Params.Type = Params.self, limits: ServerLimits
  ) throws(RPCError) -> Params {
    let empty: StaticString = "{}"
    let text =
      try namedParams()
      ?? UnsafeRawBufferPointer(start: empty.utf8Start, count: empty.utf8CodeUnitCount)
    return try Self.read(text, limits: limits)
  }

  /// Reads the text of parameters as a type that reads itself.
  /// - Throws: `RPCError` -32602 with the path in `data`.
  static func read<Params: JSONReadable>(
    _ text: UnsafeRawBufferPointer, limits: ServerLimits
  ) throws(RPCError) -> Params {
    do throws(JSONError) {
      var reader = JSONReader(text, limits: JSONLimits(maximumDepth: limits.depth))
      return try Params(reading: &reader)
    } catch {
      throw RPCError(invalidParams: error)
    }
  }

  /// Where to send an answer that comes later; nil if none is wanted.
  var address: ReplyAddress? {
    id.map { ReplyAddress(id: RequestID($0), batch: batch) }
  }
}

/// Where the answer to a request goes after its message is gone.
struct ReplyAddress {
  let id: RequestID
  let batch: Batch?
}

/// What is left of a batch when others are heard in its middle.
struct BatchRest {
  let message: [UInt8]
  /// How many of its requests have been carried out.
  let next: Int
  let batch: Batch
}

/// The answers to a batch, until the last of them is there.
///
/// - Source: JSON-RPC 2.0 §6.
final class Batch {
  /// What has been written last.
  var answers = JSONWriter()
  /// What was written before it.
  private var pieces: [[UInt8]] = []
  private var pieceBytes = 0
  /// What the answers are counted in; nil until they are many.
  var account: ByteAccount?

  /// How many requests are still to be answered, the reading of the batch counting as one.
  var open = 1
  var byteCount: Int { pieceBytes + answers.count }
  var isEmpty: Bool { byteCount == 0 }

  /// Writes what stands before the next answer.
  func beginAnswer() { answers.raw(byte: UInt8(ascii: isEmpty ? "[" : ",")) }

  /// Adds bytes that are there already, and are not copied.
  func append(_ bytes: [UInt8]) {
    for piece in [answers.bytes(), bytes] where !piece.isEmpty {
      pieces.append(piece)
      pieceBytes += piece.count
    }
    answers.removeAll(keepingCapacity: false)
  }

  /// Takes all that there is out, if some of it was there before it was added.
  func takePieces() -> [[UInt8]]? {
    guard !pieces.isEmpty else { return nil }
    append([])
    defer {
      pieces = []
      pieceBytes = 0
    }
    return pieces
  }
}
