// SPDX-License-Identifier: Apache-2.0

/// Decides when a transport reads.
///
/// A channel asks for each read. The read waits while the connection wants no bytes, while the client has sent more than
/// its rate allows, or until other clients were served.
public struct ReadGate: ~Copyable {
  private enum Request {
    case none
    case waiting
    /// It is made once other clients were served.
    case queued
  }

  public enum Decision: Sendable {
    case wait
    /// Ask again once other clients were served.
    case queue
    case read
  }

  private var request = Request.none
  private let allowance: TokenBucket?
  /// True while more bytes have come than are to be read in this time.
  public private(set) var isPaced = false

  /// - Parameters:
  ///   - bytesPerSecond: The rate; nil: any.
  ///   - now: The time.
  public init(bytesPerSecond: Int?, at now: ContinuousClock.Instant) {
    allowance = bytesPerSecond.map { TokenBucket(perSecond: $0, at: now) }
  }

  /// True while a read that was asked for waits.
  public var isHeldBack: Bool {
    switch request {
    case .none: false
    case .waiting, .queued: true
    }
  }

  /// A read is asked for.
  public mutating func ask() { if case .none = request { request = .waiting } }

  /// Decides whether the read that was asked for is made now.
  ///
  /// - Parameters:
  ///   - isWanted: True if the connection wants bytes.
  ///   - mustQueue: True if other clients are served first.
  public mutating func decide(isWanted: Bool, mustQueue: Bool) -> Decision {
    guard case .waiting = request, !isPaced, isWanted else { return .wait }
    request = mustQueue ? .queued : .none
    return mustQueue ? .queue : .read
  }

  /// Other clients were served.
  public mutating func wasQueued() { if case .queued = request { request = .waiting } }

  /// Counts bytes that have come.
  ///
  /// - Returns: The time after which `paceIsOver` is to be called; nil if reading continues.
  public mutating func count(
    _ bytes: Int, at now: @autoclosure () -> ContinuousClock.Instant
  ) -> Duration? {
    guard let wait = allowance?.use(bytes, at: now()), !isPaced else { return nil }
    isPaced = true
    return wait
  }

  /// The time that `count` has returned is over.
  ///
  /// - Returns: As `count`: more may have come meanwhile.
  public mutating func paceIsOver(at now: ContinuousClock.Instant) -> Duration? {
    isPaced = false
    return count(0, at: now)
  }
}
