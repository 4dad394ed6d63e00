// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON
public import StatewireProtocol

// Writing of JSON-RPC messages, without frames. The functions run for each input, so they are
// inlined into the modules that use them.
//
// - Source: JSON-RPC 2.0 §4.1 and §5.
extension JSONWriter {
  /// Writes a response.
  ///
  /// - Parameters:
  ///   - id: The id of the request, as JSON text.
  ///   - body: Writes everything after the id, with `result` or `error`.
  @inlinable @inline(__always)
  public mutating func response<Failure>(
    to id: UnsafeRawBufferPointer, _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    raw("{\"jsonrpc\":\"2.0\",\"id\":")
    raw(id)
    try body(&self)
  }

  /// Writes a result after the id of its response.
  ///
  /// - Parameter body: Writes the members of the result.
  @inlinable @inline(__always)
  public mutating func result<Failure>(
    _ body: (inout JSONWriter) throws(Failure) -> Void
  ) throws(Failure) {
    raw(",\"result\":")
    beginObject()
    try body(&self)
    endObject()
    raw(byte: UInt8(ascii: "}"))
  }

  /// Writes an error after the id of its response.
  public mutating func error(_ error: RPCError) {
    raw(",\"error\":")
    error.write(to: &self)
    raw(byte: UInt8(ascii: "}"))
  }

  /// Writes an error response, with the id null, to a frame that is not a request.
  public mutating func errorWithoutRequest(_ error: RPCError) {
    let null: StaticString = "null"
    null.withUTF8Buffer { id in
      response(to: UnsafeRawBufferPointer(id)) { $0.error(error) }
    }
  }

  /// Writes a notification.
  ///
  /// - Parameter body: Writes the members of its parameters.
  @inlinable @inline(__always)
  public mutating func notification(_ method: StaticString, _ body: (inout JSONWriter) -> Void) {
    raw("{\"jsonrpc\":\"2.0\",\"method\":\"")
    raw(method)
    raw("\",\"params\":{")
    body(&self)
    raw("}}")
  }
}
