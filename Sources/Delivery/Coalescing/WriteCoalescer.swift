// SPDX-License-Identifier: Apache-2.0

/// An output that can hold written bytes before it sends them.
public protocol CoalescedOutput: AnyObject {
  /// Sends the bytes that were written and not sent.
  func flushCoalesced()
}

/// Delays the writes of several connections briefly, so that they share the cost of waking clients.
///
/// A write to a client that sleeps wakes it, which costs as much as several inputs. Writes
/// immediately after it find the client awake. Therefore the output of one pass of the event loop
/// over its sockets is sent together, at the first of these events:
///
/// - The loop has served all clients that had sent something.
/// - The loop has processed more than 32 KiB from clients since the first write.
/// - The first write is older than 1 ms when the loop serves the next client.
/// - 64 outputs wait.
public final class WriteCoalescer {
  private let loop: any DeliveryLoop
  private let writing: (() -> Void) -> Void
  private let now: @Sendable () -> ContinuousClock.Instant
  /// The start of the current pass; nil between passes.
  private var began: ContinuousClock.Instant?
  private var waiting: [any CoalescedOutput] = []
  /// Number of bytes that were processed since the first delayed write.
  private var served = 0
  /// The time of the first delayed write, by the loop's `uptime`.
  private var start: Int64 = 0

  /// Creates a coalescer.
  ///
  /// - Parameters:
  ///   - loop: The loop of all outputs.
  ///   - writing: Runs a body that writes to outputs; their events wait until it is over.
  ///   - now: The clock by which the length of a pass is measured.
  public init(
    _ loop: any DeliveryLoop, writing: @escaping (() -> Void) -> Void = { $0() },
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.loop = loop
    self.writing = writing
    self.now = now
  }

  /// True if the pass has lasted for more than 2 ms: connections with much work should then yield
  /// to other connections.
  public var isLong: Bool { began.map { now() - $0 > Self.longPass } ?? false }

  private func begin() {
    guard began == nil else { return }
    began = now()
    loop.afterOthers { [self] in
      began = nil
      send()
    }
  }

  /// Adds an output that has written bytes.
  public func hold(_ output: any CoalescedOutput) {
    begin()
    waiting.append(output)
    switch waiting.count {
    case 1: start = loop.uptime
    case Self.size: send()
    default: break
    }
  }

  /// Sends the delayed writes if they would wait too long otherwise. It is called before the bytes
  /// of a client are processed.
  ///
  /// - Parameter byteCount: The number of these bytes.
  public func willServe(_ byteCount: Int) {
    begin()
    guard !waiting.isEmpty else { return }
    served += byteCount
    if served > Self.servedBytes || loop.uptime - start > Self.time { send() }
  }

  /// Sends the delayed writes.
  public func send() {
    guard !waiting.isEmpty else { return }
    served = 0
    let outputs = waiting
    waiting.removeAll(keepingCapacity: true)
    writing { for output in outputs { output.flushCoalesced() } }
  }

  // A client whose response is delayed should not wait for more work than this. A few bytes can
  // request much work, but that is not known before.
  private static let servedBytes = 32 << 10
  // 1 ms, in nanoseconds.
  private static let time: Int64 = 1_000_000
  private static let size = 64
  private static let longPass = Duration.milliseconds(2)
}
