// SPDX-License-Identifier: Apache-2.0

/// An output with bytes that were written and not sent.
public protocol CoalescedOutput: AnyObject {
  /// Sends them.
  func flushCoalesced()
}

/// Holds the writes of several connections briefly, so that they share the time at which clients are woken.
///
/// The write that finds a client asleep wakes it, which costs as much as several inputs; those right after it find
/// it awake. So the bytes of one pass of the event loop over its sockets are held and sent together: when the loop has
/// served all that had sent something, before it turns to more than `servedBytes`, or to another client when the
/// first bytes have waited for `time`, or when `size` outputs wait.
public final class WriteCoalescer {
  private let loop: any DeliveryLoop
  private let writing: (() -> Void) -> Void
  private let now: @Sendable () -> ContinuousClock.Instant
  /// When the pass in hand began.
  private var began: ContinuousClock.Instant?
  private var waiting: [any CoalescedOutput] = []
  private var served = 0
  private var start: Int64 = 0

  /// - Parameters:
  ///   - loop: The loop of all outputs.
  ///   - writing: Runs a body that writes to outputs; their events wait until it is over.
  ///   - now: The time by which passes are long.
  public init(
    _ loop: any DeliveryLoop, writing: @escaping (() -> Void) -> Void = { $0() },
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.loop = loop
    self.writing = writing
    self.now = now
  }

  /// True if the pass has lasted for so long that connections which take much time should wait for others.
  public var isLong: Bool { began.map { now() - $0 > Self.longPass } ?? false }

  private func begin() {
    guard began == nil else { return }
    began = now()
    loop.afterOthers { [self] in
      began = nil
      send()
    }
  }

  /// Holds what an output has written.
  public func hold(_ output: any CoalescedOutput) {
    begin()
    waiting.append(output)
    switch waiting.count {
    case 1: start = loop.uptime
    case Self.size: send()
    default: break
    }
  }

  /// Sends what is held, if so many bytes of a client that are about to be processed would let it wait for long.
  public func willServe(_ byteCount: Int) {
    begin()
    guard !waiting.isEmpty else { return }
    served += byteCount
    if served > Self.servedBytes || loop.uptime - start > Self.time { send() }
  }

  /// Sends what is held.
  public func send() {
    guard !waiting.isEmpty else { return }
    served = 0
    let outputs = waiting
    waiting.removeAll(keepingCapacity: true)
    writing { for output in outputs { output.flushCoalesced() } }
  }

  // A client whose response is held should not wait for more work than this. A few bytes can ask for much,
  // which is not known before.
  private static let servedBytes = 32 << 10
  // A millisecond.
  private static let time: Int64 = 1_000_000
  private static let size = 64
  private static let longPass = Duration.milliseconds(2)
}
