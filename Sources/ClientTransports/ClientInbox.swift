// SPDX-License-Identifier: Apache-2.0

import Wire

/// Messages that have arrived from a server and were not received yet.
///
/// Once it holds `bound` bytes, it wants no more: the buffers of the sockets or pipes then slow the
/// server down.
struct ClientInbox: Sendable {
  /// Number of waiting bytes at which reading stops: 256 KiB. One read and one frame can exceed it.
  static let bound = 256 * 1024

  /// The end of the stream.
  enum Ending: Sendable {
    case closed
    case failed(any Error)
  }

  private let framing: Framing
  private var reader: FrameReader
  /// Messages before the index `next` have been received.
  private var messages: [[UInt8]] = []
  private var next = 0
  private var byteCount = 0
  private(set) var ending: Ending?

  init(framing: Framing, maximumMessageBytes: Int) {
    self.framing = framing
    reader = FrameReader(maximumFrameBytes: maximumMessageBytes, checksOpening: false)
  }

  var wantsMore: Bool { ending == nil && byteCount < Self.bound }

  var isEmpty: Bool { next == messages.count }

  /// Removes and returns the next message.
  mutating func popFirst() -> [UInt8]? {
    guard next < messages.count else { return nil }
    let message = messages[next]
    messages[next] = []
    next += 1
    byteCount -= message.count
    if next == messages.count {
      messages.removeAll(keepingCapacity: true)
      next = 0
    }
    return message
  }

  /// Removes and returns all messages.
  mutating func popAll() -> [[UInt8]] {
    let all = next == 0 ? messages : Array(messages[next...])
    messages = []
    next = 0
    byteCount = 0
    return all
  }

  /// Parses bytes that have arrived.
  mutating func bytesArrived(_ bytes: UnsafeRawBufferPointer) {
    guard ending == nil else { return }
    var events: [Result<[UInt8], ClientError>] = []
    reader.read(bytes) { events += Self.result($0) }
    take(events)
  }

  /// Handles the end of the stream, with or without an error.
  mutating func streamEnded(_ ending: Ending) {
    guard self.ending == nil else { return }
    var events: [Result<[UInt8], ClientError>] = []
    reader.finish { events += Self.result($0) }
    if case .closed = ending { take(events) }
    self.ending = self.ending ?? ending
  }

  private mutating func take(_ events: [Result<[UInt8], ClientError>]) {
    if let used = reader.framing, used != framing {
      ending = .failed(ClientError.otherFraming(used))
      return
    }
    for event in events {
      switch event {
      case .success(let message):
        messages.append(message)
        byteCount += message.count
      case .failure(let error):
        ending = .failed(error)
        return
      }
    }
  }

  private static func result(_ event: FrameEvent) -> [Result<[UInt8], ClientError>] {
    switch event {
    case .message(let bytes): [.success([UInt8](bytes))]
    case .tooLarge: [.failure(.messageTooLarge)]
    case .unusableHeader(let fault): [.failure(.unusableHeader(fault))]
    // Not detected by this reader (`checksOpening` is false).
    case .foreign: []
    }
  }
}
