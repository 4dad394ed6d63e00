// SPDX-License-Identifier: Apache-2.0

/// The identity of an accepted input. It is unique among all processes, sessions and stores.
public struct OperationID: Hashable, Sendable, CustomStringConvertible {
  /// Identifies the store.
  public let scope: String
  /// Identifies the process that accepted the input. Without it an id might not be unique: if
  /// persisted inputs are lost, a later process assigns their numbers again.
  public let epoch: UInt64
  /// The number of the input within the store.
  public let number: UInt64

  /// Creates an id from its parts.
  public init(scope: String, epoch: UInt64, number: UInt64) {
    self.scope = scope
    self.epoch = epoch
    self.number = number
  }

  /// The id as `scope#epoch.number`.
  public var description: String { "\(scope)#\(epoch).\(number)" }
}

/// The facts that a deferred effect receives when it is performed.
struct EffectMoment {
  let clock: any StoreClock
  /// The input that the effect belongs to; nil if the store is not recorded or there is no input.
  let operation: OperationID?
  /// The store that performs the effect.
  let store: any StateOwner
  /// Returns the part of the store's state that the effect reads; nil for the whole state.
  var narrowing: StateNarrowing?

  /// The state that the effect reads; nil if that part of the state is absent.
  var state: (any Sendable)? {
    if let narrowing { narrowing(store.currentState) } else { store.currentState }
  }

  /// Returns the moment for an effect that reads a part of the state that this moment has.
  func narrowed(by next: StateNarrowing?) -> EffectMoment {
    guard let next else { return self }
    var narrowed = self
    if let narrowing {
      narrowed.narrowing = { narrowing($0).flatMap(next) }
    } else {
      narrowed.narrowing = next
    }
    return narrowed
  }
}

/// A store, for effects that read its state.
protocol StateOwner: AnyObject {
  /// The folded state, of the type of the store's machine.
  var currentState: any Sendable { get }

  /// Counts the parts of an operation that have a name, including this one.
  func count(_ part: String, of operation: OperationID) -> Int
}
