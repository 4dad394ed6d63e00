// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON
public import Wire

/// The ids of requests whose responses were discarded before they were sent.
///
/// They are read from the bytes of the responses, which costs nothing while responses are sent.
public struct DiscardedResponses: Equatable, Sendable {
  /// The ids of separate requests, as JSON text.
  public private(set) var single: [[UInt8]] = []
  /// The ids of the requests of each batch.
  public private(set) var batches: [[[UInt8]]] = []

  /// The places in `batches` of those that are not sent.
  private var open: [ObjectIdentifier: Int] = [:]

  /// Creates an empty list.
  public init() {}

  /// Reads the responses in output that was not sent.
  ///
  /// - Parameters:
  ///   - output: The bytes, from the beginning of a frame.
  ///   - framing: Their framing.
  /// - Returns: Nil if they do not consist of whole frames: the client has received the beginning of
  ///   one, and nothing else can be written.
  public init?(in output: [UInt8], framing: MessageFraming) {
    var rest = output[...]
    while !rest.isEmpty {
      guard let message = Self.next(&rest, framing) else { return nil }
      // A WebSocket's control frame, or a message for a node that relays.
      guard let first = message.first, [0x7B, 0x5B].contains(first) else {
        if framing.isLines { return nil }
        continue
      }
      guard let value = try? JSONValue(parsing: Array(message), limits: .stored) else { return nil }
      if let responses = value.array {
        batches.append(responses.compactMap(Self.id))
      } else if let id = Self.id(value) {
        single.append(id)
      }
    }
  }

  /// Adds a request.
  ///
  /// - Parameters:
  ///   - id: Its id as JSON text.
  ///   - batch: The batch that contains it; nil if it is a separate message.
  public mutating func add(_ id: [UInt8], in batch: Batch? = nil) {
    guard let batch else { return single.append(id) }
    add([id], in: batch)
  }

  /// Adds the requests of a part of a batch, as a JSON array.
  public mutating func add(rest requests: [UInt8], in batch: Batch) {
    let requests = (try? JSONValue(parsing: requests, limits: .stored))?.array ?? []
    add(requests.compactMap { $0["id"]?.bytes }, in: batch)
  }

  /// Adds requests of a batch that is not sent, and the responses that it has already.
  private mutating func add(_ ids: [[UInt8]], in batch: Batch) {
    if let index = open[ObjectIdentifier(batch)] {
      batches[index] += ids
      return
    }
    open[ObjectIdentifier(batch)] = batches.count
    let written = try? JSONValue(
      parsing: batch.takeResponses() + [UInt8(ascii: "]")], limits: .stored)
    batches.append((written?.array ?? []).compactMap(Self.id) + ids)
  }

  /// Adds the requests in a message of the client.
  ///
  /// - Parameter message: A frame without its framing.
  public mutating func add(message: [UInt8]) {
    guard let value = try? JSONValue(parsing: message, limits: .stored) else { return }
    if let requests = value.array {
      batches.append(requests.compactMap { $0["id"]?.bytes })
    } else if let id = value["id"]?.bytes {
      single.append(id)
    }
  }

  private static func id(_ response: JSONValue) -> [UInt8]? {
    response["method"] == nil ? response["id"]?.bytes : nil
  }

  private static func next(
    _ rest: inout ArraySlice<UInt8>, _ framing: MessageFraming
  ) -> ArraySlice<UInt8>? {
    switch framing {
    case .stream(.lines):
      guard let end = rest.firstIndex(of: 0x0A) else { return nil }
      defer { rest = rest[(end + 1)...] }
      return rest[..<end]
    case .stream(.headers):
      let head = Array("Content-Length: ".utf8)
      guard rest.starts(with: head), let newline = rest.firstIndex(of: 0x0D),
        let count = Int(
          String(decoding: rest[(rest.startIndex + head.count)..<newline], as: UTF8.self)),
        let end = rest[newline...].firstRange(of: Array("\r\n\r\n".utf8))?.upperBound,
        count <= rest.endIndex - end
      else { return nil }
      defer { rest = rest[(end + count)...] }
      return rest[end..<(end + count)]
    case .webSocket: return nextOfWebSocket(&rest)
    }
  }

  /// - Source: RFC 6455 §5.2; the server masks nothing.
  private static func nextOfWebSocket(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    var message: ArraySlice<UInt8> = []
    while true {
      let bytes = Array(rest.prefix(10))
      guard bytes.count >= 2 else { return nil }
      let lengthBytes = [126: 2, 127: 8][bytes[1]] ?? 0
      guard bytes.count >= 2 + lengthBytes else { return nil }
      let length =
        lengthBytes == 0
        ? Int(bytes[1]) : bytes[2..<(2 + lengthBytes)].reduce(0) { $0 << 8 | Int($1) }
      let start = rest.startIndex + 2 + lengthBytes
      guard length >= 0, length <= rest.endIndex - start else { return nil }
      let payload = rest[start..<(start + length)]
      rest = rest[(start + length)...]
      // A message never begins with a control frame's payload.
      if bytes[0] & 0x08 != 0 { return [] }
      message += payload
      if bytes[0] & 0x80 != 0 { return message }
    }
  }
}
