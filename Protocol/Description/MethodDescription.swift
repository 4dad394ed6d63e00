// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// The description of a method or notification for `rpc.discover`.
///
/// Each description is next to its message; `all` lists them. Descriptions are created on request.
/// A message that the server does not read or write as a Swift type has a type only for its
/// description, without `Codable`: each `Codable` conformance would make the program start more
/// slowly, because the run time searches all conformances.
public struct MethodDescription {
  /// The name of the method.
  public let name: String
  /// The purpose, in one sentence.
  public let summary: String
  /// True for a notification that the server sends; false for a method that clients call.
  public let isNotification: Bool
  /// The type of its parameters; nil if it has none.
  public let params: Any.Type?
  /// The type of its result; nil for a notification.
  public let result: Any.Type?
  /// The errors of the method, in addition to `RPCErrorCode.ofAllMethods`.
  public let errors: [RPCErrorCode]
  /// True if the method exists only on a server that was started for tests.
  public let isForTests: Bool

  /// Describes a method.
  ///
  /// - Parameters:
  ///   - name: The name of the method.
  ///   - summary: The purpose, in one sentence.
  ///   - params: The type of its parameters; nil if it has none.
  ///   - result: The type of its result.
  ///   - errors: The errors of the method, in addition to `RPCErrorCode.ofAllMethods`.
  ///   - isForTests: True if the method exists only on a server that was started for tests.
  init(
    _ name: StaticString, _ summary: String, params: Any.Type? = nil,
    result: Any.Type = NoResult.self, errors: [RPCErrorCode] = [], isForTests: Bool = false
  ) {
    self.name = "\(name)"
    self.summary = summary
    isNotification = false
    self.params = params
    self.result = result
    self.errors = errors
    self.isForTests = isForTests
  }

  /// Describes a notification that the server sends.
  ///
  /// - Parameters:
  ///   - name: The name of the notification.
  ///   - summary: The purpose, in one sentence.
  ///   - params: The type of its parameters.
  init(notification name: StaticString, _ summary: String, params: Any.Type) {
    self.name = "\(name)"
    self.summary = summary
    isNotification = true
    self.params = params
    result = nil
    errors = []
    isForTests = false
  }
}

/// An empty result.
///
/// - Shape: `{}`
public enum NoResult: JSONDescribed {
  /// Returns the JSON Schema of the type.
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .object([]) }
}

extension JSONSchema {
  /// The schema of a view state of any store kind.
  static var viewState: JSONSchema {
    JSONSchema.anything.described("A view state of the store's kind: see x-stores.")
  }
}

extension MethodDescription {
  /// All methods, then all notifications.
  public static var all: [MethodDescription] {
    [
      Initialize.description, Ping.description, Discover.description, Shutdown.description,
      Exit.description,
      StoreOpen.description, StoreClose.description, StoreSubscribe.description,
      StoreUnsubscribe.description, StoreSend.description, StoreState.description,
      SessionOpen.description, SessionAttach.description, SessionDetach.description,
      SessionClose.description, SessionInfo.description, SessionTrace.description,
      FrontendLifecycle.description, CancelRequest.description,
      TestAdvanceClock.description, TestInjectFault.description,
      StoreChanged.description, StoreEvent.description, StoreClosed.description,
      SessionClosed.description, SessionPresence.description, SessionTraced.description,
    ]
  }
}
