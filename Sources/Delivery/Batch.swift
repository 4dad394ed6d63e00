// SPDX-License-Identifier: Apache-2.0

internal import Sessions
public import StatewireJSON
public import Wire

/// The id and the batch of a request, for a response that is written when the message is no longer
/// in memory.
public struct ReplyAddress {
  /// The id of the request.
  public let id: RequestID
  /// The batch that contains the request; nil if the request is a separate message.
  public let batch: Batch?

  /// Creates an address.
  public init(id: RequestID, batch: Batch?) {
    self.id = id
    self.batch = batch
  }
}

/// The responses to a batch, collected until the last one is written.
///
/// - Source: JSON-RPC 2.0 §6.
public final class Batch {
  /// The responses that were written after the last of `pieces`.
  public var responses = JSONWriter()
  /// The responses that were written before those in `responses`, as arrays that are not copied.
  private var pieces: [[UInt8]] = []
  /// Total size of `pieces`, in bytes.
  private var pieceBytes = 0
  /// The account in which the responses are counted; nil while they have at most 16 KiB.
  var account: ByteAccount?

  /// Number of requests without a response. Reading the batch counts as one request.
  public var open = 1
  /// Total size of the responses until now, in bytes.
  var byteCount: Int { pieceBytes + responses.count }
  var isEmpty: Bool { byteCount == 0 }

  /// Creates a batch without responses, which is still being read.
  public init() {}

  /// Writes the `[` or `,` that precedes the next response.
  public func beginResponse() { responses.raw(byte: UInt8(ascii: isEmpty ? "[" : ",")) }

  /// Appends an existing array of bytes without copying it.
  public func append(_ bytes: [UInt8]) {
    for piece in [responses.bytes(), bytes] where !piece.isEmpty {
      pieces.append(piece)
      pieceBytes += piece.count
    }
    responses.removeAll(keepingCapacity: false)
  }

  /// Removes and returns the responses until now, after a `[`; nothing if there are none.
  public func takeResponses() -> [UInt8] {
    append([])
    defer {
      pieces = []
      pieceBytes = 0
      account = nil
    }
    return Array(pieces.joined())
  }

  /// Inserts earlier responses, which begin with a `[`.
  public func prepend(_ earlier: [UInt8]) {
    guard !earlier.isEmpty else { return }
    append([])
    if !pieces.isEmpty { pieces[0][0] = UInt8(ascii: ",") }
    pieces.insert(earlier, at: 0)
    pieceBytes += earlier.count
  }

  /// Removes and returns all responses; nil if all of them are in `responses`.
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
