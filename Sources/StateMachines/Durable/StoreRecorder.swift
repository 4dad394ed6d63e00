// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Writes down what happens to one store, so that it can go on in another process.
public protocol StoreRecorder: AnyObject {
  /// What the store has folded up to now.
  ///
  /// - Parameters:
  ///   - state: The state, which may be written on any thread.
  ///   - revision: The revision now.
  func stateIs(_ state: JSONEncodedState, revision: Revision)

  /// An action was folded; `revision` is a new one if what came of it was published.
  ///
  /// - Parameters:
  ///   - patch: RFC 6902 operations that lead from the state before to the state now, as JSON text
  ///     that is valid during the call.
  ///   - revision: The revision now.
  /// - Returns: Whether the whole state is to be told now.
  func folded(_ patch: UnsafeRawBufferPointer, revision: Revision) -> Bool

  /// An input was accepted, and has effects that have not ended.
  ///
  /// - Parameters:
  ///   - input: JSON text.
  ///   - operation: Its number.
  ///   - epoch: That of the process that accepted it.
  ///   - time: When, since 1970.
  func accepted(_ input: [UInt8], operation: UInt64, epoch: UInt64, at time: Duration)

  /// All effects of an input have ended that was accepted.
  func settled(operation: UInt64)
}

/// An input whose effects had not ended when its process did.
public struct AcceptedInput: Sendable {
  /// Its number within its store.
  public var operation: UInt64
  /// That of the process that accepted it.
  public var epoch: UInt64
  /// JSON text, as `StoreRecorder` was given it.
  public var input: [UInt8]
  /// How long ago it was accepted.
  public var age: Duration

  public init(operation: UInt64, epoch: UInt64, input: [UInt8], age: Duration) {
    self.operation = operation
    self.epoch = epoch
    self.input = input
    self.age = age
  }
}
