// SPDX-License-Identifier: Apache-2.0

/// A store kind, with the types of its inputs and its view state.
///
///     extension Kind where Input == StopwatchInput, State == StopwatchState {
///       static var stopwatch: Kind { Kind("stopwatch") }
///     }
///
/// - Shape: `Input` encodes as one object `{"type": String, …}`, and `State` decodes the view state
///   of the store; `JSONValue` can be used for either.
public struct Kind<Input: Encodable & Sendable, State: Decodable & Sendable>: Sendable {
  /// The name of the kind on the wire.
  public let name: String

  /// Creates a kind with the name on the wire.
  public init(_ name: String) { self.name = name }
}
