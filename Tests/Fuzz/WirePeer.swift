// SPDX-License-Identifier: Apache-2.0

import ServerCore
import Sessions
import StatewireJSON
import StatewireProtocol

/// The far end of a connection in memory.
final class WirePeer: ConnectionOutput {
  private let shard: Shard
  private let work: () -> Void
  private(set) var connection: Connection?
  private var written: [UInt8] = []
  private var isClosed = false
  private var isUsual = true
  private(set) var isCongested = false
  private(set) var waitingBytes = 0
  private var isYieldingToOthers = false

  /// - Parameter work: Lets all that waits be done.
  init(_ shard: Shard, _ limits: ServerLimits, work: @escaping () -> Void) {
    self.shard = shard
    self.work = work
    let settings = ServerSettings(limits: limits, program: .init(name: "fuzz", version: nil))
    // because the fuzzer's thread is the only one.
    nonisolated(unsafe) let peer = self
    shard.assumeIsolated { shard in
      peer.connection = Connection(settings: settings, output: peer, isolation: shard)
    }
  }

  private func tell(_ event: Connection.Event) {
    guard let current = connection else { return }
    // because the fuzzer's thread is the only one.
    nonisolated(unsafe) let (connection, event) = (current, event)
    shard.assumeIsolated { shard in
      shard.turn { connection.take(event, isolation: shard) }
    }
    work()
    guard isYieldingToOthers else { return }
    isYieldingToOthers = false
    tell(.othersServed)
  }

  func yieldToOthers() { isYieldingToOthers = true }

  // Time passes where the fuzzer says so.
  func expireLater() {}
}

// MARK: - What the peer does

extension WirePeer {
  /// Sends bytes; those that are not wanted any more are lost, as they are in a socket.
  func send(_ bytes: ArraySlice<UInt8>) {
    guard !bytes.isEmpty, connection?.wantsBytes == true else { return }
    // In a buffer of just this size, so that a read behind its end is found.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: bytes)
    tell(.received(UnsafeRawBufferPointer(buffer)))
  }

  /// Does what the byte behind a command says; nothing, if it says nothing.
  func obey(_ command: UInt8) {
    switch command {
    case UInt8(ascii: "c"): isCongested = true
    case UInt8(ascii: "r"):
      isCongested = false
      waitingBytes = 0
      tell(.caughtUp)
    case UInt8(ascii: "e"): tell(.inputEnded)
    case UInt8(ascii: "t"): tell(.timeIsUp)
    case UInt8(ascii: "d"): leave()
    default: return
    }
    isUsual = false
  }

  /// Is gone. Comes last in every life.
  func leave() {
    tell(.disconnected)
    connection = nil
  }

  /// Whatever came before, the next line is served.
  func checkIsServed() {
    guard isUsual, connection?.wantsBytes == true else { return }
    written = []
    send(Array("\n{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"ping\"}\n".utf8)[...])
    let answer = #"{"jsonrpc":"2.0","id":"end","result":{}}"#
    expect(isClosed || messages().last == answer, "a ping is not answered")
  }
}

// MARK: - What the peer gets

extension WirePeer {
  func write(_ bytes: UnsafeRawBufferPointer) {
    expect(!isClosed, "written after the end")
    written += bytes
    if isCongested { waitingBytes += bytes.count }
  }

  func resumeReading() {}

  func admit(_ identity: Identity) -> Bool { true }

  func endOutput() {
    expect(!isClosed, "closed twice")
    isClosed = true
  }

  func awaitInputEnd() {}

  func close() { endOutput() }

  /// The messages that were written, each checked.
  func messages() -> [String] {
    // What a stream of HTTP gets, and nothing after it.
    let isHTTP = written.starts(with: "HTTP/1.1 400 ".utf8)
    if isHTTP { return [String(decoding: written, as: UTF8.self)] }
    var messages: [String] = []
    var reader = FrameReader(maximumFrameBytes: .max - 1)
    written.withUnsafeBytes { bytes in
      reader.read(bytes) { event in
        guard case .message(let bytes) = event else { return expect(false, "no frame: \(event)") }
        let text = String(validating: bytes, as: UTF8.self)
        let limits = JSONLimits(maximumDepth: .max)
        guard let text, let value = try? JSONValue(parsing: text, limits: limits) else {
          return expect(false, "no JSON was written")
        }
        for message in value.array ?? [value] {
          expect(message["jsonrpc"] == "2.0", "no message was written: \(text)")
        }
        messages.append(text)
      }
    }
    reader.finish { expect(false, "a frame has no end: \($0)") }
    return messages
  }
}
