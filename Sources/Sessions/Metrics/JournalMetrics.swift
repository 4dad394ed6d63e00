// SPDX-License-Identifier: Apache-2.0

/// The metrics of a journal at one time.
public struct JournalMetrics: Sendable {
  /// Number of turns that have not been committed.
  public var waitingTurns: Int
  /// The approximate size of the entries that have not been committed, in bytes.
  public var waitingBytes: Int
  /// The turns that have been committed or have failed.
  public var ended: Ended
  /// The durations of transactions; several turns share one.
  public var durations: DurationHistogram.Reading

  /// The turns that have been committed or have failed.
  public struct Ended: Sendable {
    /// Number of turns that were committed.
    public var committedTurns = 0
    /// The approximate size of their entries, in bytes.
    public var committedBytes = 0
    /// Number of turns that could not be committed.
    public var failedTurns = 0

    /// Adds turns of one transaction.
    ///
    /// - Parameter failures: The failures of some of them, in the same order.
    mutating func add(_ turns: [JournalWriter.Turn], _ failures: JournalWriter.Failures) {
      var rest = failures[...]
      for turn in turns {
        if let next = rest.first, next.shard == turn.shard, next.failure.numbers == turn.numbers {
          rest.removeFirst()
          failedTurns +=
            Int(turn.numbers.upperBound.rawValue - turn.numbers.lowerBound.rawValue) + 1
        } else {
          committedTurns += 1
          committedBytes += turn.byteCount
        }
      }
    }
  }

  // A commit to a local disk takes 0.1 to 20 ms.
  static let bounds: [Duration] = [
    .microseconds(100), .microseconds(300), .milliseconds(1), .milliseconds(2), .milliseconds(5),
    .milliseconds(10), .milliseconds(20), .milliseconds(50), .milliseconds(100), .milliseconds(500),
    .seconds(2), .seconds(10),
  ]
}
