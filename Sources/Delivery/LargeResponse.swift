// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
internal import StatewireProtocol
internal import Wire

/// The response to a request whose result can be large; written on any thread.
struct LargeResponse: Sendable {
  let id: [UInt8]
  /// A longer response becomes an error.
  var maximumBytes: Int
  let writeResult: @Sendable (inout JSONWriter) throws(RPCError) -> Void

  func write(to writer: inout JSONWriter) {
    let start = writer.count
    id.withUnsafeBytes { id in
      do throws(RPCError) {
        try writer.response(to: id) { writer throws(RPCError) in
          try writer.result { writer throws(RPCError) in try writeResult(&writer) }
        }
        if writer.count - start > maximumBytes {
          throw RPCError(limit: .outboxBytes, "the result has more bytes than may wait to be read")
        }
      } catch {
        writer.truncate(to: start)
        writer.response(to: id) { $0.error(error) }
      }
    }
  }
}
