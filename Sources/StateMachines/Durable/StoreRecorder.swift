// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Persists the changes of one store, so that the store can continue in another process.
public protocol StoreRecorder: AnyObject {
  /// Records the whole state, with all actions folded.
  ///
  /// - Parameters:
  ///   - state: The state. It may be written on any thread.
  ///   - revision: The current revision.
  func stateChanged(_ state: JSONEncodedState, revision: Revision)

  /// Records that an action was folded.
  ///
  /// - Parameters:
  ///   - patch: RFC 6902 operations that lead from the previous state to the current one, as JSON
  ///     text. It is valid during the call.
  ///   - revision: The current revision. It is a new one if the action changed the view state.
  /// - Returns: True if the recorder needs the whole state now.
  func folded(_ patch: UnsafeRawBufferPointer, revision: Revision) -> Bool

  /// Records an accepted input whose effects have not ended.
  ///
  /// - Parameters:
  ///   - input: The input as JSON text.
  ///   - operation: The number of the input.
  ///   - epoch: The epoch of the process that accepted the input.
  ///   - time: The time at which the input was accepted, since 1970-01-01T00:00:00Z.
  func accepted(_ input: [UInt8], operation: UInt64, epoch: UInt64, at time: Duration)

  /// Records that all effects of an accepted input have ended.
  ///
  /// - Parameter operation: The number of the input.
  func settled(operation: UInt64)
}

/// An input whose effects had not ended when its process ended.
public struct AcceptedInput: Sendable {
  /// The number of the input within its store.
  public var operation: UInt64
  /// The epoch of the process that accepted the input.
  public var epoch: UInt64
  /// The input as JSON text, as `StoreRecorder.accepted` received it.
  public var input: [UInt8]
  /// The time since the input was accepted.
  public var age: Duration

  /// Creates an accepted input from its parts.
  public init(operation: UInt64, epoch: UInt64, input: [UInt8], age: Duration) {
    self.operation = operation
    self.epoch = epoch
    self.input = input
    self.age = age
  }
}
