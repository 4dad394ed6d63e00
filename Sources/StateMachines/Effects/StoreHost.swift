// SPDX-License-Identifier: Apache-2.0

/// The actor that owns stores.
///
/// Stores are synchronous classes; they are safe because one actor owns them. Work that runs on
/// other threads reports by a message to this actor, which passes the message to the store.
///
/// ```swift
/// actor Host: StoreHost {
///   var stores: [StoreNumber: any AnyStore] = [:]
///   func deliver(_ message: EffectMessage) { stores[message.store]?.receive(message) }
/// }
/// ```
public protocol StoreHost: Actor {
  /// Passes a message to the store that it names. Ignores the message if the store no longer
  /// exists.
  func deliver(_ message: EffectMessage)

  /// Passes several messages to the stores that they name, in this order.
  func deliver(_ messages: [EffectMessage])

  /// The executor of this actor, if its jobs can also be closures; nil by default.
  nonisolated var closureExecutor: (any ClosureExecutor)? { get }
}

extension StoreHost {
  /// Passes the messages one after another.
  public func deliver(_ messages: [EffectMessage]) { for message in messages { deliver(message) } }

  /// No such executor.
  public nonisolated var closureExecutor: (any ClosureExecutor)? { nil }

  /// Calls a closure on this actor later; never during this call. Without a `closureExecutor` two
  /// closures may be called in either order.
  nonisolated func perform(_ body: @escaping @Sendable (isolated Self) -> Void) {
    guard let closureExecutor else { return HostTask.begin { await body(self) } }
    closureExecutor.enqueue { [self] in assumeIsolated(body) }
  }
}

/// An executor whose jobs can also be closures.
///
/// A task that another thread starts would begin on a thread of the global pool, and wake two
/// threads in place of one.
public protocol ClosureExecutor: SerialExecutor {
  /// Adds a closure to the jobs, after those that were added before. An executor that has ended
  /// drops it.
  func enqueue(_ body: @escaping @Sendable () -> Void)
}

/// The number of a store within its host.
public struct StoreNumber: Hashable, Sendable {
  /// The number.
  public let rawValue: Int
  /// Creates a store number.
  public init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// A message from running work to the store that began it.
public struct EffectMessage: Sendable {
  enum News: Sendable {
    /// An action of the store's own type.
    case action(any Sendable)
    /// An action of the store's own type that stands for a failure of the work.
    case failed(any Sendable)
    /// An action of the store's own type; from now on the input does not wait for the work.
    case becameFeed(any Sendable)
    /// The input is refused. The action, of the store's own type, is folded if no request waits.
    case refused(InputRefusal, otherwise: (any Sendable)?)
    /// A named part of the work begins.
    case partBegan(Operation)
    case partEnded(Operation, OperationEnd)
    case ended
    /// The reply to an exchange: an action of the store's own type to fold, and the reason to refuse
    /// the input.
    case replied((any Sendable)?, InputRefusal?)

    /// True if the message is about a part of the work; such messages are sent even if the work is
    /// cancelled.
    var isOfPart: Bool {
      switch self {
      case .partBegan, .partEnded: true
      case .action, .failed, .becameFeed, .refused, .ended, .replied: false
      }
    }
  }

  /// The store that receives the message.
  public let store: StoreNumber
  let run: RunNumber
  let news: News
}

/// The number of one running effect within its store; a number is never used twice.
struct RunNumber: Hashable, Sendable {
  let rawValue: UInt64
}
