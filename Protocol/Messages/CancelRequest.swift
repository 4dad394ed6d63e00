// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// Cancels the effects of the latest request with an id; usually sent as a notification.
///
/// If that request has not been answered yet, its answer is -32800. An id that is not known, or
/// whose effects have ended, is no error.
public enum CancelRequest {
  public static let method: StaticString = "$/cancelRequest"

  /// - Shape: `{"id": String | Number}`
  public struct Params: Codable, Sendable {
    public var id: JSONValue
  }
}
