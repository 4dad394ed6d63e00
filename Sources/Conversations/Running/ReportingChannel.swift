// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// A channel that reports its messages, as the lines of a conversation, without hidden values.
struct ReportingChannel: ConversationChannel {
  let channel: any ConversationChannel
  /// The name of the connection; empty if it has none.
  let name: String
  let hidden: HiddenValues
  let report: @Sendable (String) async -> Void

  func send(_ message: [UInt8]) async throws {
    await report("-->", message)
    try await channel.send(message)
  }

  func send(raw bytes: [UInt8]) async throws {
    await report("-->", bytes)
    try await channel.send(raw: bytes)
  }

  func receive() async throws -> [UInt8]? {
    let message = try await channel.receive()
    if let message {
      await report("<--", message)
    } else {
      await report("<--", Array("close".utf8))
    }
    return message
  }

  func closeInput() async throws { try await channel.closeInput() }

  func close() async { await channel.close() }

  private func report(_ arrow: String, _ bytes: [UInt8]) async {
    let prefix = name.isEmpty ? arrow : "\(name) \(arrow)"
    await report("\(prefix) \(String(decoding: hidden.shown(bytes), as: UTF8.self).printable)")
  }
}
