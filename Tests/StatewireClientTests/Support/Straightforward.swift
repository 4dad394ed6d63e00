// SPDX-License-Identifier: Apache-2.0

import Foundation
import StatewireClient

/// The replicas of one connection, computed by a simple replay that shares no code with the client.
final class Straightforward {
  /// All states of a conversation, over all connections.
  final class Seen {
    var states: [String: JSONValue] = [:]
  }

  private(set) var held: [String: (revision: Int, state: JSONValue)] = [:]
  private let seen: Seen

  init(_ seen: Seen) { self.seen = seen }

  func hold(_ store: String, _ revision: Int, _ state: JSONValue) {
    held[store] = (revision, state)
    seen.states["\(revision) \(store)"] = state
  }

  /// Returns the state of a store at a revision, seen on any connection.
  func seen(_ store: String, _ revision: Int) -> JSONValue? { seen.states["\(revision) \(store)"] }

  func forget(_ store: String) { held[store] = nil }

  /// Handles a notification.
  func notified(_ method: String, _ params: JSONValue) throws {
    let store = params["store"]?.string ?? ""
    switch method {
    case "store/changed": try changed(store, params)
    case "store/closed": forget(store)
    case "session/closed": held = [:]
    default: break
    }
  }

  private func changed(_ store: String, _ params: JSONValue) throws {
    guard var (revision, state) = held[store] else { return }
    guard params["base"]?.int == revision else { throw Unexpected("the transcript has a gap") }
    if let whole = params["state"] {
      state = whole
    } else {
      for operation in params["patch"]?.array ?? [] { state = try perform(operation, on: state) }
    }
    revision = params["revision"]?.int ?? -1
    hold(store, revision, state)
  }

  /// Handles a response.
  func understand(_ method: String, _ params: JSONValue, _ result: JSONValue) {
    let store = params["store"]?.string ?? ""
    switch method {
    case "store/subscribe": hold(store, result)
    case "store/unsubscribe": forget(store)
    case "session/detach", "session/close": held = [:]
    case "session/attach":
      let before = held
      held = [:]
      guard let stores = result["stores"]?.object else { return }
      for (store, storeResult) in stores {
        if let snapshot = storeResult["snapshot"] { hold(store, snapshot) }
        if storeResult["replayed"] != nil { held[store] = before[store] }
      }
    default: break
    }
  }

  private func hold(_ store: String, _ snapshot: JSONValue) {
    hold(store, snapshot["revision"]?.int ?? -1, snapshot["state"] ?? .null)
  }
}

// MARK: - RFC 6902, simple implementation

/// Applies one operation. Operations of the server always apply.
private func perform(_ operation: JSONValue, on document: JSONValue) throws -> JSONValue {
  func tokens(_ member: String) -> [String] {
    (operation[member]?.string ?? "").split(separator: "/", omittingEmptySubsequences: false)
      .dropFirst().map {
        $0.replacingOccurrences(of: "~1", with: "/").replacingOccurrences(of: "~0", with: "~")
      }
  }
  let path = tokens("path")
  switch operation["op"]?.string {
  case "remove": return try remove(path[...], document)
  case "replace": return try put(path[...], document, operation["value"], isNew: false)
  case "add": return try put(path[...], document, operation["value"], isNew: true)
  case "copy", "move":
    let from = tokens("from")
    var value: JSONValue? = document
    for token in from { value = value?[token] ?? Int(token).flatMap { value?[$0] } }
    let rest = operation["op"]?.string == "move" ? try remove(from[...], document) : document
    return try put(path[...], rest, value, isNew: true)
  default: throw Unexpected("no such operation: \(operation)")
  }
}

/// Inserts a value at a path.
private func put(
  _ tokens: ArraySlice<String>, _ document: JSONValue, _ value: JSONValue?, isNew: Bool
) throws -> JSONValue {
  guard let value else { throw Unexpected("there is no value") }
  guard let token = tokens.first else { return value }
  let isLast = tokens.count == 1
  switch document {
  case .object(var members):
    members[token] =
      isLast ? value : try put(tokens.dropFirst(), members[token] ?? .null, value, isNew: isNew)
    return .object(members)
  case .array(var elements):
    let index = token == "-" ? elements.count : Int(token) ?? -1
    if isLast && isNew {
      elements.insert(value, at: index)
    } else {
      elements[index] = try put(tokens.dropFirst(), elements[index], value, isNew: isNew)
    }
    return .array(elements)
  default: throw Unexpected("the path leads nowhere")
  }
}

/// Removes the value at a path.
private func remove(_ tokens: ArraySlice<String>, _ document: JSONValue) throws -> JSONValue {
  guard let token = tokens.first else { return .null }
  let isLast = tokens.count == 1
  switch document {
  case .object(var members):
    members[token] = isLast ? nil : try remove(tokens.dropFirst(), members[token] ?? .null)
    return .object(members)
  case .array(var elements):
    let index = Int(token) ?? -1
    if isLast {
      elements.remove(at: index)
    } else {
      elements[index] = try remove(tokens.dropFirst(), elements[index])
    }
    return .array(elements)
  default: throw Unexpected("the path leads nowhere")
  }
}
