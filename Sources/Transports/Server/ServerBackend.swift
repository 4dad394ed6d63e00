// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import TransportSupport

/// The implementation of a `Server`: event loops of SwiftNIO, or a loop for standard input and
/// output.
protocol ServerBackend: Sendable {
  var addresses: [ServerAddress] { get }
  /// The metrics of the connections, for each event loop.
  var metrics: [ConnectionMetrics] { get }

  func untilEnded() async
  func credentialsChanged()
  func ownershipChanged(_ change: OwnershipChange)
  /// - Parameter served: Called when the clients are gone and the loops still run.
  func stop(served: () async -> Void) async
}
