// SPDX-License-Identifier: Apache-2.0

internal import Delivery
internal import Sessions
internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// One request or notification that is being processed; valid as long as its message.
struct Request {
  /// The id as JSON text; nil for a notification, which gets no response.
  let id: UnsafeRawBufferPointer?
  /// The whole request, as a part of its message.
  let text: UnsafeRawBufferPointer
  let params: Envelope.Params
  /// The batch that the request is a part of.
  let batch: Batch?

  /// Returns the text of the parameters, an object; nil if there are none.
  ///
  /// - Throws: `RPCError` -32602 if they are given by position.
  func namedParams() throws(RPCError) -> UnsafeRawBufferPointer? { try members()?.text }

  /// Returns the members of the parameters, an object; nil if there are none.
  ///
  /// - Throws: `RPCError` -32602 if they are given by position.
  func members() throws(RPCError) -> JSONMembers? {
    switch params {
    case .object(let members): return members
    case .absent, .unusable: return nil
    case .array:
      throw RPCError(
        invalidParams: JSONError(.type, "parameters must be given by name, as an object"))
    }
  }

  /// Decodes the parameters through `Codable`; a request without parameters is read as `{}`.
  ///
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

  /// Reads the parameters as a type with its own reader; without parameters, reads `{}`.
  ///
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

  /// Reads the text of parameters as a type with its own reader.
  ///
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

  /// The address for a response that is sent later; nil for a notification.
  var address: ReplyAddress? {
    id.map { ReplyAddress(id: RequestID($0), batch: batch) }
  }
}

/// The requests of a batch that wait while other clients are served, or for an offloaded request.
final class WaitingBatch {
  /// The requests as a JSON array.
  let requests: [UInt8]
  let batch: Batch

  init(requests: [UInt8], batch: Batch) {
    self.requests = requests
    self.batch = batch
  }
}
