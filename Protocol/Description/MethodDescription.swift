// SPDX-License-Identifier: Apache-2.0

public import StatewireJSON

/// A method or notification, described for programs: what `rpc.discover` tells of it.
///
/// Each stands beside its message, and `all` is the table of them. Nothing of it is made before
/// somebody asks. What the server itself neither reads nor writes as a type is a type for its
/// description alone: one with `Codable` would cost each start of the program, which searches all
/// conformances that there are.
public struct MethodDescription {
  public let name: String
  /// What it is for, in one sentence.
  public let summary: String
  /// Whether the server sends it by itself, as a notification; otherwise a client does.
  public let isNotification: Bool
  /// What its parameters are read or written as; nil: it has none.
  public let params: Any.Type?
  /// What its result is written as; nil: it is a notification.
  public let result: Any.Type?
  /// Why it can be refused, beside what goes for all of them.
  public let errors: [RPCErrorCode]
  /// Whether there is such a method only where the server was started for tests.
  public let isForTests: Bool

  /// A method of the server's.
  ///
  /// - Parameters:
  ///   - name: The method.
  ///   - summary: What it is for, in one sentence.
  ///   - params: What its parameters are read as; nil: it has none.
  ///   - result: What its result is written as.
  ///   - errors: Why it can be refused, beside `RPCErrorCode.ofAllMethods`.
  ///   - isForTests: Whether there is such a method only where the server was started for tests.
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

  /// A notification from the server.
  ///
  /// - Parameters:
  ///   - name: The method.
  ///   - summary: What it is for, in one sentence.
  ///   - params: What its parameters are written as.
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

/// What is answered where there is nothing to tell.
///
/// - Shape: `{}`
public enum NoResult: JSONDescribed {
  public static func schema(in schemas: JSONSchemas) -> JSONSchema { .object([]) }
}

extension JSONSchema {
  /// A view state of whatever kind.
  static var viewState: JSONSchema {
    JSONSchema.anything.described("A view state of the store's kind: see x-stores.")
  }
}

extension MethodDescription {
  /// Every method, and then every notification.
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
