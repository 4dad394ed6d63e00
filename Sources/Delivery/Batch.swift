// SPDX-License-Identifier: Apache-2.0

internal import Sessions
public import StatewireJSON
public import Wire

/// An address for a response that comes after the message of its request is gone.
public struct ReplyAddress {
  public let id: RequestID
  public let batch: Batch?

  public init(id: RequestID, batch: Batch?) {
    self.id = id
    self.batch = batch
  }
}

/// The responses to a batch, until the last of them is there.
///
/// - Source: JSON-RPC 2.0 §6.
public final class Batch {
  /// What has been written last.
  public var answers = JSONWriter()
  /// What was written before it.
  private var pieces: [[UInt8]] = []
  private var pieceBytes = 0
  /// What the responses are counted in; nil until they are many.
  var account: ByteAccount?

  /// Number of requests that still need a response; reading the batch counts as one.
  public var open = 1
  var byteCount: Int { pieceBytes + answers.count }
  var isEmpty: Bool { byteCount == 0 }

  public init() {}

  /// Writes what stands before the next response.
  public func beginAnswer() { answers.raw(byte: UInt8(ascii: isEmpty ? "[" : ",")) }

  /// Adds bytes that are there already, and are not copied.
  public func append(_ bytes: [UInt8]) {
    for piece in [answers.bytes(), bytes] where !piece.isEmpty {
      pieces.append(piece)
      pieceBytes += piece.count
    }
    answers.removeAll(keepingCapacity: false)
  }

  /// Takes all that there is out, if some of it was there before it was added.
  func takePieces() -> [[UInt8]]? {
    guard !pieces.isEmpty else { return nil }
    append([])
    defer {
      pieces = []
      pieceBytes = 0
    }
    return pieces
  }
}
