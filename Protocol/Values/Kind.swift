// SPDX-License-Identifier: Apache-2.0

/// A kind of store, with the types of what it is sent and of what is seen of it.
///
///     extension Kind where Input == StopwatchInput, State == StopwatchState {
///       static var stopwatch: Kind { Kind("stopwatch") }
///     }
///
/// - Shape: `Input` encodes as one object `{"type": String, …}`, and `State` decodes what the store
///   shows; a `JSONValue` may stand for either.
public struct Kind<Input: Encodable & Sendable, State: Decodable & Sendable>: Sendable {
  /// What the server calls it.
  public let name: String

  public init(_ name: String) { self.name = name }
}
