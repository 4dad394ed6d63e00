// SPDX-License-Identifier: Apache-2.0

internal import Delivery
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

/// What is left of a batch when others are heard in its middle.
struct BatchRest {
  let message: [UInt8]
  /// How many of its requests have been carried out.
  let next: Int
  let batch: Batch
}
