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

/// Numbers the lines of one trace and hands them to the client that asked for it.
final class Tracer {
  let client: ClientID
  private let clients: ClientTable
  private var last = 0

  init(_ client: ClientID, _ clients: ClientTable) {
    self.client = client
    self.clients = clients
  }

  func tell(_ record: TraceRecord, of store: String) {
    last += 1
    clients[client]?.traced(TraceLine(number: last, store: store, record: record))
  }
}
