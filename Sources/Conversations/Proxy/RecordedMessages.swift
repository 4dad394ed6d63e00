// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// Messages of a recording, with their secrets replaced; the only place of this module that knows
/// the methods of Statewire.
///
/// A member of a message is a member of the protocol, whose values are recorded; the data of a
/// store, whose secrets are those of its kind; or a member of an unknown method.
struct RecordedMessages: Sendable {
  private(set) var secrets: ServerSecrets
  private var values = RecordedValues()

  init(secrets: ServerSecrets) { self.secrets = secrets }

  /// The memory of identifiers and secrets, approximately.
  var byteCount: Int { values.byteCount }

  /// The names to declare before the last message.
  var givenNames: [String] { values.givenNames }

  /// The methods whose params have no data of stores.
  private static let plainMethods: Set<String> = [
    "$/cancelRequest", "exit", "frontend/lifecycle", "initialize", "ping", "rpc.discover",
    "session/attach", "session/close", "session/detach", "session/info", "session/open",
    "session/trace", "shutdown", "store/close", "store/open", "store/send", "store/state",
    "store/subscribe", "store/unsubscribe", "test/advanceClock", "test/injectFault",
  ]

  /// The notifications whose params have no other data than that of their store.
  private static let notifications: Set<String> = [
    "session/closed", "session/presence", "session/traced", "store/changed", "store/closed",
    "store/event",
  ]
}

// MARK: - Clients

extension RecordedMessages {
  /// Returns a message of a client, as the player sends it.
  mutating func sending(_ message: JSONValue, _ requests: inout RecordedRequests) -> Pattern {
    values.beginMessage()
    return sending(part: message, &requests)
  }

  /// Returns a message, or one of a batch.
  private mutating func sending(
    part message: JSONValue, _ requests: inout RecordedRequests
  ) -> Pattern {
    if case .array(let elements) = message {
      return .array(elements.map { sending(part: $0, &requests) })
    }
    guard let object = message.object else { return values.sending(message, .everything) }
    let method = object["method"]?.string
    let request = RecordedRequests.Request(
      method: method ?? "", store: object["params"]?["store"]?.string,
      kind: object["params"]?["kind"]?.string)
    let rule = self.rule(of: request, requests)
    requests.sent(request, id: object["id"])
    return .object(
      object.map { key, value in
        let pattern: Pattern
        switch key {
        case "method" where method.map(Self.plainMethods.contains) == true:
          pattern = .literal(value)
        case "method": pattern = values.sending(value, secrets.ofProtocol)
        case "jsonrpc", "id": pattern = values.sending(value, secrets.ofProtocol, in: key)
        case "params" where method.map(Self.plainMethods.contains) == true:
          pattern = sending(params: value, of: request, rule)
        case "params" where secrets.isDescribed: pattern = sending(unknownParams: value)
        default: pattern = values.sending(value, secrets.ofOtherMethods)
        }
        return Pattern.Member(key: key, pattern: pattern)
      }, isOpen: false)
  }

  /// Returns the params of a mistaken method.
  private mutating func sending(unknownParams params: JSONValue) -> Pattern {
    guard let members = params.object else { return values.sending(params, .everything) }
    return .object(
      members.map { key, value in
        let pattern =
          ["store", "kind"].contains(key)
          ? sending(name: value) : values.sending(value, .everything)
        return Pattern.Member(key: key, pattern: pattern)
      }, isOpen: false)
  }

  private mutating func sending(
    params: JSONValue, of request: RecordedRequests.Request, _ rule: ServerSecrets.Rule
  ) -> Pattern {
    guard let members = params.object else { return values.sending(params, .everything) }
    return .object(
      members.map { key, value in
        let pattern: Pattern
        switch (request.method, key, value) {
        case ("store/send", "input", .object): pattern = values.sending(value, rule)
        // Not an input of a built-in kind; a mistake may contain anything.
        case ("store/send", "input", _): pattern = values.sending(value, .everything)
        case ("store/open", "config", _): pattern = values.sending(value, rule)
        case ("session/attach", "session", .string(let handle)):
          pattern = values.sending(handle: handle, kind: "session")
        case ("initialize", "token", .string(let token)):
          pattern = values.sending(handle: token, kind: "token")
        case (_, "store", _), (_, "kind", _): pattern = sending(name: value)
        default: pattern = values.sending(value, secrets.ofProtocol, in: key)
        }
        return Pattern.Member(key: key, pattern: pattern)
      }, isOpen: false)
  }

  /// Returns the name of a store or kind; names of described kinds are public.
  private mutating func sending(name: JSONValue) -> Pattern {
    values.sending(name: name, isPublic: name.string.map(secrets.describes) == true)
  }

  /// Returns the rule for the data of a request's store.
  private func rule(
    of request: RecordedRequests.Request, _ requests: RecordedRequests
  ) -> ServerSecrets.Rule {
    if request.method == "store/open" {
      return secrets.rule(ofKind: request.kind ?? request.store)
    }
    return rule(of: request.store, requests)
  }

  private func rule(of store: String?, _ requests: RecordedRequests) -> ServerSecrets.Rule {
    secrets.rule(ofKind: store.flatMap { requests.kind(of: $0, secrets) })
  }
}

// MARK: - The server

extension RecordedMessages {
  /// Returns a message of the server, as the player expects it.
  mutating func expecting(_ message: JSONValue, _ requests: inout RecordedRequests) -> Pattern {
    values.beginMessage()
    return expecting(part: message, &requests).withoutEllipses
  }

  /// Returns a message, or one of a batch.
  private mutating func expecting(
    part message: JSONValue, _ requests: inout RecordedRequests
  ) -> Pattern {
    if case .array(let elements) = message {
      return .array(elements.map { expecting(part: $0, &requests) })
    }
    guard let object = message.object else { return values.expecting(message, .everything) }
    let method = object["method"]?.string
    let request =
      method == nil
      ? requests.responded(id: object["id"], isError: object["error"] != nil) : nil
    return .object(
      object.map { key, value in
        let pattern: Pattern
        switch key {
        case "method" where method.map(Self.notifications.contains) == true:
          pattern = .literal(value)
        case "method": pattern = values.expecting(value, secrets.ofProtocol)
        case "jsonrpc", "id": pattern = values.expecting(value, secrets.ofProtocol, in: key)
        case "params": pattern = expecting(params: value, of: method ?? "", &requests)
        case "result": pattern = expecting(result: value, of: request, requests)
        case "error": pattern = expecting(error: value, of: request, requests)
        default: pattern = values.expecting(value, secrets.ofOtherMethods)
        }
        return Pattern.Member(key: key, pattern: pattern)
      }, isOpen: false)
  }

  private mutating func expecting(
    params: JSONValue, of method: String, _ requests: inout RecordedRequests
  ) -> Pattern {
    guard Self.notifications.contains(method), let members = params.object else {
      return values.expecting(params, secrets.ofOtherMethods)
    }
    if method == "store/closed", let store = members["store"]?.string { requests.closed(store) }
    let rule = rule(of: members["store"]?.string, requests)
    return .object(
      members.map { key, value in
        let pattern: Pattern
        switch (method, key, value) {
        case ("store/changed", "patch", _): pattern = values.expecting(patch: value, rule)
        case ("store/changed", "state", _), ("store/event", "event", _):
          pattern = values.expecting(value, rule)
        case ("session/closed", "session", .string(let handle)):
          pattern = values.expecting(handle: handle)
        default: pattern = values.expecting(value, secrets.ofProtocol, in: key)
        }
        return Pattern.Member(key: key, pattern: pattern)
      }, isOpen: false)
  }

  private mutating func expecting(
    result: JSONValue, of request: RecordedRequests.Request?, _ requests: RecordedRequests
  ) -> Pattern {
    guard let request, Self.plainMethods.contains(request.method), let members = result.object
    else { return values.expecting(result, secrets.ofOtherMethods) }
    if request.method == "rpc.discover" {
      secrets.learn(from: result, isComplete: true)
      return .anything(.object)
    }
    return .object(
      members.map { key, value in
        let pattern: Pattern
        switch (request.method, key, value) {
        case ("store/subscribe", "state", _), ("store/state", "state", _):
          pattern = values.expecting(value, rule(of: request.store, requests))
        // It depends on the values that are replaced.
        case ("store/state", "digest", _): pattern = .anything(.number)
        case ("session/open", "session", .string(let handle)):
          pattern = values.expecting(handle: handle)
        case ("session/attach", "stores", .object(let stores)):
          pattern = expecting(attached: stores, requests)
        default: pattern = values.expecting(value, secrets.ofProtocol, in: key)
        }
        return Pattern.Member(key: key, pattern: pattern)
      }, isOpen: false)
  }

  /// Returns the stores of a response to `session/attach`, some of which have a state.
  private mutating func expecting(
    attached stores: JSONObject, _ requests: RecordedRequests
  ) -> Pattern {
    var members: [Pattern.Member] = []
    var isOpen = false
    for (store, value) in stores {
      let pattern = expecting(members: value) { name, value, messages in
        name == "snapshot"
          ? messages.expecting(members: value) { name, value, messages in
            name == "state"
              ? messages.values.expecting(value, messages.rule(of: store, requests))
              : messages.values.expecting(value, messages.secrets.ofProtocol, in: name)
          } : messages.values.expecting(value, messages.secrets.ofProtocol, in: name)
      }
      if values.hides(name: store) {
        isOpen = true
      } else {
        members.append(Pattern.Member(key: store, pattern: pattern))
      }
    }
    return .object(members, isOpen: isOpen)
  }

  /// Returns an object whose members are those of the protocol.
  private mutating func expecting(
    members value: JSONValue, _ member: (String, JSONValue, inout RecordedMessages) -> Pattern
  ) -> Pattern {
    guard let members = value.object else { return values.expecting(value, secrets.ofProtocol) }
    return .object(
      members.map { Pattern.Member(key: $0.key, pattern: member($0.key, $0.value, &self)) },
      isOpen: false)
  }

  private mutating func expecting(
    error: JSONValue, of request: RecordedRequests.Request?, _ requests: RecordedRequests
  ) -> Pattern {
    guard let members = error.object else { return .anything(nil) }
    // The reply to a frame whose bytes are not recorded.
    guard let request else { return .object([], isOpen: true) }
    let code = Pattern.Member(key: "code", pattern: .literal(members["code"] ?? .null))
    let rule = self.rule(ofErrorsOf: request, requests)
    // Messages and data of unknown servers and kinds may contain anything.
    guard secrets.isDescribed || secrets.ofOtherMethods != .everything, rule != .everything else {
      return .object([code], isOpen: true)
    }
    return .object(
      members.map { key, value in
        key == "code"
          ? code
          : Pattern.Member(
            key: key,
            pattern: values.expecting(value, key == "data" ? rule : secrets.ofProtocol))
      }, isOpen: false)
  }

  /// Returns the rule for the data of an error.
  private func rule(
    ofErrorsOf request: RecordedRequests.Request, _ requests: RecordedRequests
  ) -> ServerSecrets.Rule {
    guard Self.plainMethods.contains(request.method) else { return secrets.ofOtherMethods }
    return request.store == nil ? secrets.ofProtocol : rule(of: request, requests)
  }
}

extension Pattern {
  /// The pattern with any string for the value of each member `"...": "..."`, which cannot be
  /// matched exactly: in the file it means that there may be further members.
  fileprivate var withoutEllipses: Pattern {
    switch self {
    case .anything, .named, .text, .literal: self
    case .array(let elements): .array(elements.map(\.withoutEllipses))
    case .object(let members, let isOpen):
      .object(
        members.compactMap { member in
          guard member.key == "..." else {
            return Member(key: member.key, pattern: member.pattern.withoutEllipses)
          }
          // Keys are unique, and an open object allows the member.
          if isOpen { return nil }
          let isEllipsis = member.pattern == .literal("...")
          return Member(
            key: member.key,
            pattern: isEllipsis ? .anything(.string) : member.pattern.withoutEllipses)
        }, isOpen: isOpen)
    }
  }
}
