// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import ServerCore

/// The numbers of connections of a server, on all its event loops together.
///
/// It is used when a client connects, sends a token, or disconnects.
final class ConnectionCounts: Sendable {
  private struct Counts {
    /// The channels, and the address for which each counts; nil: for none.
    var places: [ObjectIdentifier: ClientAddress?] = [:]
    /// Number of refused channels that are not closed yet.
    var refused = 0
    var channelsOfAddress: [ClientAddress: Int] = [:]
    var connectionsOfIdentity: [Identity: Int] = [:]
    /// The last time that the log reported the limit of connections, and the closing of silent
    /// ones.
    var loggedFull: ContinuousClock.Instant?
    var loggedSilent: ContinuousClock.Instant?
  }

  private let settings: ServerSettings
  private let counts = Lock(Counts())

  init(_ settings: ServerSettings) { self.settings = settings }

  /// True if few places are left for new clients.
  var isNearlyFull: Bool {
    let spare = min(16, settings.limits.connections / 4)
    return counts.withLock { $0.places.count + spare >= settings.limits.connections }
  }

  /// True if places are left for this many clients.
  func hasPlaces(for newcomers: Int) -> Bool {
    counts.withLock { $0.places.count + newcomers <= settings.limits.connections }
  }

  /// Counts a channel until `leave`, for a client with an address; nil: of a kind without a limit.
  ///
  /// - Returns: The reason to refuse it; nil if it was counted.
  func enter(_ address: ClientAddress?, _ channel: ObjectIdentifier) -> Refusal? {
    let limits = settings.limits
    let (refusal, isLogged) = counts.withLock { counts -> (Refusal?, Bool) in
      guard counts.places.count < limits.connections else {
        return (.connections, isDue(&counts.loggedFull))
      }
      if let address {
        let limit = limits.connectionsPerAddress(isLoopback: address.isLoopback)
        guard counts.channelsOfAddress[address, default: 0] < limit else {
          return (.connectionsPerAddress, false)
        }
        counts.channelsOfAddress[address, default: 0] += 1
      }
      counts.places[channel] = .some(address)
      return (nil, false)
    }
    if isLogged {
      settings.logger.warning(
        """
        the limit of \(limits.connections) open connections is reached; new ones are refused; \
        raise --maximum-connections or the limit of open files (ulimit -n)
        """)
    }
    return refusal
  }

  /// Frees the place of a channel. Further calls have no effect.
  ///
  /// It is called when the channel has closed. A silent channel that is closed to make room for
  /// another client frees its place earlier, when it begins to close: otherwise many clients that
  /// connect to several loops at the same time would be refused.
  func leave(_ channel: ObjectIdentifier) {
    counts.withLock { counts in
      guard let address = counts.places.removeValue(forKey: channel) else { return }
      if let address { counts.channelsOfAddress.decrement(address) }
    }
  }

  /// Removes a channel from the count of its address, because its client is another node. The
  /// channel keeps its place.
  func servesNode(_ channel: ObjectIdentifier) {
    counts.withLock { counts in
      guard case let address?? = counts.places[channel] else { return }
      counts.places[channel] = .some(nil)
      counts.channelsOfAddress.decrement(address)
    }
  }

  /// Counts a refused channel until `refusedConnectionHasClosed`.
  ///
  /// - Returns: False, and nothing is counted, if it must be closed without a reason.
  func enterRefused() -> Bool {
    counts.withLock { counts in
      guard counts.refused < settings.limits.refusedConnections else { return false }
      counts.refused += 1
      return true
    }
  }

  /// Counts a closed channel that was refused.
  func refusedConnectionHasClosed() { counts.withLock { $0.refused -= 1 } }

  /// Counts a connection of an identity until `release`.
  ///
  /// - Returns: False, and nothing is counted, if the identity has reached its limit of
  ///   connections.
  func admit(_ identity: Identity) -> Bool {
    counts.withLock { counts in
      let count = counts.connectionsOfIdentity[identity, default: 0]
      guard count < settings.limits.connectionsOfOneIdentity else { return false }
      counts.connectionsOfIdentity[identity] = count + 1
      return true
    }
  }

  /// Counts one connection of an identity less.
  func release(_ identity: Identity) {
    counts.withLock { $0.connectionsOfIdentity.decrement(identity) }
  }

  /// Logs that silent connections are closed.
  func silentConnectionIsClosed() {
    guard counts.withLock({ isDue(&$0.loggedSilent) }) else { return }
    settings.logger.warning(
      """
      closing connections that have sent nothing, or no token: the limit of \
      \(settings.limits.connections) open connections is nearly reached; raise --maximum-connections \
      or the limit of open files (ulimit -n)
      """)
  }

  /// Returns true at most once a minute, so that many clients cause only one log line.
  private func isDue(_ last: inout ContinuousClock.Instant?) -> Bool {
    let now = settings.now()
    if let last, now - last < .seconds(60) { return false }
    last = now
    return true
  }
}

extension Dictionary where Value == Int {
  /// Decrements the count of a key, and removes it at 0.
  fileprivate mutating func decrement(_ key: Key) {
    guard let count = self[key] else { return }
    self[key] = count > 1 ? count - 1 : nil
  }
}
