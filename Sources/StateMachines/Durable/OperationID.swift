// SPDX-License-Identifier: Apache-2.0

/// Names an accepted input among all that ever were: in every process, session and store.
public struct OperationID: Hashable, Sendable, CustomStringConvertible {
  /// Tells the store from all others.
  public let scope: String
  /// Tells the process that accepted the input from all others: what is written down of a store may
  /// be lost, and its numbers are given again then.
  public let epoch: UInt64
  /// Names the input there.
  public let number: UInt64

  public init(scope: String, epoch: UInt64, number: UInt64) {
    self.scope = scope
    self.epoch = epoch
    self.number = number
  }

  public var description: String { "\(scope)#\(epoch).\(number)" }
}

/// What an effect can know that is made when it is performed.
struct EffectMoment {
  let clock: any StoreClock
  /// The input that it works for; nil where no store is written down.
  let operation: OperationID?
}
