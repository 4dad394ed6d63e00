// SPDX-License-Identifier: Apache-2.0

/// Decides when a transport reads.
///
/// The transport requests each read. The read waits while the connection wants no bytes, while the
/// client exceeds its rate, or until other clients were served.
public struct ReadGate: ~Copyable {
  private enum Request {
    case none
    case waiting
    /// The read is made after other clients were served.
    case queued
  }

  /// A decision about the requested read.
  public enum Decision: Sendable {
    /// The read is not made now, or none was requested.
    case wait
    /// Other clients are served first; then the transport calls `wasQueued` and asks again.
    case queue
    /// The read is made now.
    case read
  }

  private let bucket: TokenBucket?
  private var request = Request.none
  /// True while the client has sent more bytes than its rate allows.
  public private(set) var isPaced = false

  /// Creates a gate without a requested read.
  ///
  /// - Parameters:
  ///   - bytesPerSecond: The maximum rate; nil: no limit.
  ///   - now: The current time.
  public init(bytesPerSecond: Int?, at now: ContinuousClock.Instant) {
    bucket = bytesPerSecond.map { TokenBucket(perSecond: $0, at: now) }
  }

  /// True while a requested read waits.
  public var isHeldBack: Bool {
    switch request {
    case .none: false
    case .waiting, .queued: true
    }
  }

  /// Requests a read.
  public mutating func ask() { if case .none = request { request = .waiting } }

  /// Decides about the requested read; `read` and `queue` end or queue the request.
  ///
  /// - Parameters:
  ///   - isWanted: True if the connection wants bytes.
  ///   - mustQueue: True if other clients are to be served first.
  public mutating func decide(isWanted: Bool, mustQueue: Bool) -> Decision {
    guard case .waiting = request, !isPaced, isWanted else { return .wait }
    request = mustQueue ? .queued : .none
    return mustQueue ? .queue : .read
  }

  /// Continues a queued read, after other clients were served.
  public mutating func wasQueued() { if case .queued = request { request = .waiting } }

  /// Counts received bytes.
  ///
  /// - Returns: The time after which `paceIsOver` must be called; nil if reading continues.
  public mutating func count(
    _ bytes: Int, at now: @autoclosure () -> ContinuousClock.Instant
  ) -> Duration? {
    guard let wait = bucket?.use(bytes, at: now()), !isPaced else { return nil }
    isPaced = true
    return wait
  }

  /// Ends the pause that `count` has requested.
  ///
  /// - Returns: The same as `count`: more bytes may have arrived in the pause.
  public mutating func paceIsOver(at now: ContinuousClock.Instant) -> Duration? {
    isPaced = false
    return count(0, at: now)
  }
}
