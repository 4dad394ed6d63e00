// SPDX-License-Identifier: Apache-2.0

import ServerCore
import Sessions
import StateMachines
import StatewireJSON
import StatewireProtocol

/// A whole connection, from the bytes that come to the bytes that go.
///
/// The stream is what a peer sends, in either framing. 0x1E, which stands in no message, is a command
/// with the byte behind it:
///
///   c  the peer stops reading       r  and reads again
///   e  it sends nothing more        t  nobody waits any longer
///   d  it is gone                   any other: here the stream is cut
///
/// Without fast paths the same stream gives the same responses; in small pieces too, if it has no commands
/// but cuts. What is written is framed JSON, each of it a JSON-RPC 2.0 message. A line at the end is answered. In the
/// end nothing is left over.
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
        play(isInLines: isInLines) { peer in
          peer.send(pieces[0])
          for piece in pieces.dropFirst() {
            if let first = piece.first { peer.obey(first) }
            peer.send(piece.dropFirst())
          }
        }
      }
      return
    }
    let text = Array(pieces.joined())
    // Another one for each length, so that the cuts fall everywhere.
    let size = 1 + text.count % 11
    let whole = bothWays("a connection") { play(isInLines: isInLines) { $0.send(text[...]) } }
    let cut = play(isInLines: isInLines) { peer in
      var rest = text[...]
      while !rest.isEmpty {
        peer.send(rest.prefix(size))
        rest = rest.dropFirst(size)
      }
    }
    if let whole, let cut {
      expect(whole == cut, "how the stream is cut makes a difference: \(whole) and \(cut)")
    }
  }

  /// Lets a peer do what it does, and answers with what it got; nil if it asked for more work than
  /// there is time for.
  private static func play(isInLines: Bool, _ body: (WirePeer) -> Void) -> [String]? {
    let loop = WorkLoop()
    weak var shardAfter: Shard?
    weak var connectionAfter: Connection?
    var isDone = true
    var messages: [String] = []
    do {
      let shard = World.shard(loop, limits)
      let peer = WirePeer(shard, serverLimits) { isDone = loop.run(atMost: mostPieces) && isDone }
      shardAfter = shard
      connectionAfter = peer.connection
      body(peer)
      messages = peer.messages()
      if isDone, isInLines { peer.checkIsServed() }
      peer.leave()
    }
    // What went on beyond the limit is cancelled by now, so it ends.
    expect(loop.run(atMost: .max), "the loop never ends")
    expect(connectionAfter == nil, "the connection is left over")
    expect(shardAfter == nil, "the shard is left over")
    return isDone ? messages : nil
  }

  private static var limits: SessionLimits {
    var limits = SessionLimits()
    limits.storesPerSession = 8
    return limits
  }

  // Small enough that the fuzzer meets them.
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
