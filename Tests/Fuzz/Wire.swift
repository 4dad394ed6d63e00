// SPDX-License-Identifier: Apache-2.0

import ServerCore
import Sessions
import StateMachines
import StatewireJSON
import StatewireProtocol

/// A complete connection, from input bytes to output bytes.
///
/// The stream is the input of a client, in either framing. 0x1E, which occurs in no message, starts
/// a command that consists of the next byte:
///
///   c  the client stops reading     r  the client reads again
///   e  the client ends its input    t  the time for open requests is up
///   d  the client disconnects       any other: the stream is split here
///
/// Without fast paths, the same stream must give the same responses, also in small chunks if it has
/// no other commands than splits. The output must be framed JSON, and each frame a JSON-RPC 2.0
/// message. A line at the end must get a response. In the end, nothing may be retained.
enum Wire {
  private static let command: UInt8 = 0x1E
  private static let mostPieces = 5_000

  static func run(_ stream: [UInt8]) {
    let first = stream.first { ![0x20, 0x09, 0x0A, 0x0D, command].contains($0) } ?? 0
    let isInLines = "{[".utf8.contains(first)
    let pieces = stream.split(separator: command, omittingEmptySubsequences: false)
    let isPlain = pieces.dropFirst().allSatisfy { !"credt".utf8.contains($0.first ?? 0) }
    guard isPlain else {
      _ = bothWays("a connection") {
        play(isInLines: isInLines) { client in
          client.send(pieces[0])
          for piece in pieces.dropFirst() {
            if let first = piece.first { client.obey(first) }
            client.send(piece.dropFirst())
          }
        }
      }
      return
    }
    let text = Array(pieces.joined())
    // Another size for each length, so that the splits are at different places.
    let size = 1 + text.count % 11
    let whole = bothWays("a connection") { play(isInLines: isInLines) { $0.send(text[...]) } }
    let cut = play(isInLines: isInLines) { client in
      var rest = text[...]
      while !rest.isEmpty {
        client.send(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
    }
    if let whole, let cut {
      expect(whole == cut, "the result depends on the cuts of the stream: \(whole) and \(cut)")
    }
  }

  /// Plays the steps of a client, and returns the messages that it received; nil if its work
  /// exceeded the limit.
  private static func play(isInLines: Bool, _ body: (FuzzClient) -> Void) -> [String]? {
    let loop = WorkLoop()
    weak var shardAfter: Shard?
    weak var connectionAfter: Connection?
    var isDone = true
    var messages: [String] = []
    do {
      let shard = World.shard(loop, limits)
      let client = FuzzClient(shard, serverLimits) {
        isDone = loop.run(atMost: mostPieces) && isDone
      }
      shardAfter = shard
      connectionAfter = client.connection
      body(client)
      messages = client.messages()
      if isDone, isInLines { client.checkIsServed() }
      client.leave()
    }
    // Work beyond the limit is cancelled by now, so it ends.
    expect(loop.run(atMost: .max), "the loop never ends")
    expect(connectionAfter == nil, "the connection was not released")
    expect(shardAfter == nil, "the shard was not released")
    return isDone ? messages : nil
  }

  private static var limits: SessionLimits {
    var limits = SessionLimits()
    limits.storesPerSession = 8
    return limits
  }

  // Small limits, so that the fuzzer exceeds them.
  private static var serverLimits: ServerLimits {
    var limits = ServerLimits()
    limits.frameBytes = 1_500
    limits.depth = 24
    limits.batchLength = 10
    limits.openRequests = 10
    limits.outboxBytes = 20_000
    return limits
  }
}
