// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import Wire

/// Splits the bytes from another node into parts of messages. It keeps at most a header.
///
/// A node writes its headers exactly as `FrameWriter` does.
struct NodeFrameReader {
  /// A part of a message, as it has arrived; never empty.
  struct Part {
    let bytes: UnsafeRawBufferPointer
    /// The length of the whole message.
    let messageBytes: Int
    let isFirst: Bool
    let isLast: Bool
    /// True if the message is for this node.
    let isControl: Bool
  }

  /// The bytes are not those of a node.
  struct Fault: Error {}

  private var head: [UInt8] = []
  private var messageBytes = 0
  private var remaining = 0
  private var isControl = false

  /// True if a message for the client has begun and not ended.
  var isInMessage: Bool { remaining > 0 && remaining < messageBytes && !isControl }

  /// Reads the next bytes, and calls `body` with each part of a message.
  mutating func read(
    _ chunk: UnsafeRawBufferPointer, _ body: (Part) -> Void
  ) throws(Fault) {
    var rest = chunk
    while let first = rest.first {
      if remaining == 0 {
        head.append(first)
        rest = UnsafeRawBufferPointer(rebasing: rest[1...])
        if head.suffix(4).elementsEqual("\r\n\r\n".utf8) { try takeHead() }
        guard head.count <= Self.maximumHead else { throw Fault() }
      } else {
        let isFirst = remaining == messageBytes
        if isFirst { isControl = first != UInt8(ascii: "{") && first != UInt8(ascii: "[") }
        let count = min(remaining, rest.count)
        remaining -= count
        body(
          Part(
            bytes: UnsafeRawBufferPointer(rebasing: rest[..<count]), messageBytes: messageBytes,
            isFirst: isFirst, isLast: remaining == 0, isControl: isControl))
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      }
    }
  }

  private mutating func takeHead() throws(Fault) {
    let text = String(decoding: head.dropLast(4), as: UTF8.self)
    guard text.hasPrefix(Self.prefix), let length = Int(text.dropFirst(Self.prefix.count)),
      length > 0
    else { throw Fault() }
    head.removeAll(keepingCapacity: true)
    (messageBytes, remaining) = (length, length)
  }

  private static let prefix = "Content-Length: "
  private static let maximumHead = 64
}
