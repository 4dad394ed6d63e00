// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// The response to a request whose result can be large; it can be written on any thread.
struct LargeResponse: Sendable {
  /// The id of the request, as JSON text.
  let id: [UInt8]
  /// The maximum length in bytes; a longer response is replaced by an error.
  var maximumBytes: Int
  /// Writes the members of the result.
  let writeResult: @Sendable (inout JSONWriter) throws(RPCError) -> Void

  /// Writes the response, or an error response if the result fails or is too long.
  func write(to writer: inout JSONWriter) {
    let start = writer.count
    id.withUnsafeBytes { id in
      do throws(RPCError) {
        try writer.response(to: id) { writer throws(RPCError) in
          try writer.result { writer throws(RPCError) in try writeResult(&writer) }
        }
        if writer.count - start > maximumBytes {
          throw RPCError(
            limit: .outboxBytes,
            "the result has more bytes than the server queues for one client")
        }
      } catch {
        writer.truncate(to: start)
        writer.response(to: id) { $0.error(error) }
      }
    }
  }
}
