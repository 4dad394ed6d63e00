// SPDX-License-Identifier: Apache-2.0

/// The actor that stores live on.
///
/// Stores are plain synchronous types; what protects them is that one actor owns them. Work that
/// runs elsewhere comes back as a message to that actor, which hands it to the store it is for.
///
/// ```swift
/// actor Host: StoreHost {
///   var stores: [StoreNumber: any AnyStore] = [:]
///   func deliver(_ message: EffectMessage) { stores[message.store]?.receive(message) }
/// }
/// ```
public protocol StoreHost: Actor {
  /// Hands a message to the store it names; to none if that store is gone.
  func deliver(_ message: EffectMessage)
}

/// The name of a store within its host.
public struct StoreNumber: Hashable, Sendable {
  public let rawValue: Int
  public init(_ rawValue: Int) { self.rawValue = rawValue }
}

/// What running work tells the store that began it.
public struct EffectMessage: Sendable {
  enum News: Sendable {
    /// An action of the store's own type.
    case action(any Sendable)
    /// An action of the store's own type; from here on nobody waits for the work any longer.
    case becameFeed(any Sendable)
    /// The input is refused; with an action of the store's own type where no request is told.
    case refused(InputRefusal, otherwise: (any Sendable)?)
    /// A named part of the work begins.
    case partBegan(Operation)
    case partEnded(Operation, OperationEnd)
    case ended

    /// Whether it is about a part of the work, which is told even when the work is cancelled.
    var isOfPart: Bool {
      switch self {
      case .partBegan, .partEnded: true
      case .action, .becameFeed, .refused, .ended: false
      }
    }
  }

  /// The store that this is for.
  public let store: StoreNumber
  let run: RunNumber
  let news: News
}

/// The name of one running effect within its store; never used twice.
struct RunNumber: Hashable, Sendable {
  let rawValue: UInt64
}
