// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// One line of a session's trace.
public struct TraceLine {
  /// Counts the lines of a trace from 1.
  public let number: Int
  /// The store's name.
  public let store: String
  public let record: TraceRecord
}

/// Numbers the lines of one trace and hands them to the frontend that asked for it.
final class Tracer {
  private weak var frontend: (any Frontend)?
  private var last = 0

  init(_ frontend: any Frontend) { self.frontend = frontend }

  func isFor(_ frontend: any Frontend) -> Bool { self.frontend === frontend }

  func tell(_ record: TraceRecord, of store: String) {
    last += 1
    frontend?.traced(TraceLine(number: last, store: store, record: record))
  }
}
