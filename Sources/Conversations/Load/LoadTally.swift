// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The counts of a load, or of one play of one of its clients.
struct LoadTally: Sendable, Equatable {
  /// Requests sent, each of a batch.
  var requests = 0
  /// Notifications and unreadable messages sent.
  var notifications = 0
  /// Requests `store/send` sent.
  var inputs = 0
  /// Results and errors received.
  var responses = 0
  /// Notifications of the server.
  var updates = 0
  /// The errors received, by code.
  var errors: [Int: Int] = [:]
  /// Connections opened.
  var connections = 0
  /// Connections that could not be opened or written to, or that the server has closed too early.
  var failedConnections = 0
  /// Messages that were not sent, because a value from the server was missing or nothing could be
  /// sent any more. They are not among the requests and notifications.
  var unsent = 0

  mutating func add(_ other: LoadTally) {
    requests += other.requests
    notifications += other.notifications
    inputs += other.inputs
    responses += other.responses
    updates += other.updates
    errors.merge(other.errors) { $0 + $1 }
    connections += other.connections
    failedConnections += other.failedConnections
    unsent += other.unsent
  }

  /// The number of requests without a response.
  var withoutResponse: Int { requests - responses }
}

/// The times of a load, of all its clients: histograms have a fixed size, which is large.
struct LoadTimes: Sendable, Equatable {
  /// The time from when a request was to be sent until its response.
  var latencies = LatencyHistogram()
  /// The time from when a message could be sent until it was: the delay of the generator.
  var delays = LatencyHistogram()
}
