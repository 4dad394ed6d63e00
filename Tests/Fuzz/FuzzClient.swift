// SPDX-License-Identifier: Apache-2.0

import ServerCore
import Sessions
import StatewireJSON
import StatewireProtocol

/// A client on an in-memory connection.
final class FuzzClient: ConnectionOutput {
  private let shard: Shard
  private let work: () -> Void
  private(set) var connection: Connection?
  private var written: [UInt8] = []
  private var isClosed = false
  private var isUsual = true
  private(set) var isCongested = false
  private(set) var waitingBytes = 0
  private var isYieldingToOthers = false

  /// Creates a client.
  ///
  /// - Parameter work: Performs all waiting work.
  init(_ shard: Shard, _ limits: ServerLimits, work: @escaping () -> Void) {
    self.shard = shard
    self.work = work
    let settings = ServerSettings(limits: limits, program: .init(name: "fuzz", version: nil))
    // because the fuzzer's thread is the only one.
    nonisolated(unsafe) let client = self
    shard.assumeIsolated { shard in
      client.connection = Connection(settings: settings, output: client, isolation: shard)
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

  // The time is up when the fuzzer decides.
  func expireLater() {}
}

// MARK: - Sending

extension FuzzClient {
  /// Sends bytes. Bytes that the connection does not want are lost, like bytes in a socket that is
  /// not read.
  func send(_ bytes: ArraySlice<UInt8>) {
    guard !bytes.isEmpty, connection?.wantsBytes == true else { return }
    // In a buffer of exactly this size, so that a read beyond its end is detected.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: bytes)
    tell(.received(UnsafeRawBufferPointer(buffer)))
  }

  /// Performs the command of the byte; other bytes do nothing.
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

  /// Disconnects. This is the last call for each client.
  func leave() {
    tell(.disconnected)
    connection = nil
  }

  /// Checks that the next line gets a response, whatever preceded it.
  func checkIsServed() {
    guard isUsual, connection?.wantsBytes == true else { return }
    written = []
    send(Array("\n{\"jsonrpc\":\"2.0\",\"id\":\"end\",\"method\":\"ping\"}\n".utf8)[...])
    let response = #"{"jsonrpc":"2.0","id":"end","result":{}}"#
    expect(isClosed || messages().last == response, "a ping got no response")
  }
}

// MARK: - Receiving

extension FuzzClient {
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

  /// Returns the messages that were written, and checks each of them.
  func messages() -> [String] {
    // The response to a stream of HTTP, which is the only output.
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
          return expect(false, "the output is not JSON")
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
