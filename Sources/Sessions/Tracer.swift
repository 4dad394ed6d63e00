// SPDX-License-Identifier: Apache-2.0

public import StateMachines

/// One line of a session's trace.
public struct TraceLine {
  /// The number of the line in its trace, from 1.
  public let number: Int
  /// The store's name.
  public let store: String
  /// The observed operation.
  public let record: TraceRecord
}

/// A trace: numbers its lines and passes them to the client that requested it.
final class Tracer {
  let client: ClientID
  private let clients: ClientTable
  private var last = 0

  init(_ client: ClientID, _ clients: ClientTable) {
    self.client = client
    self.clients = clients
  }

  /// Sends a line to the client.
  func send(_ record: TraceRecord, of store: String) {
    last += 1
    clients[client]?.traced(TraceLine(number: last, store: store, record: record))
  }
}
