// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import StatewireJSON
internal import Transports

// The output of the command `journal`.

extension KeptState {
  /// The name by which a command refers to the state. It has a part of the handle only, because the
  /// handle is a secret.
  var name: String { "\(session.short)/\(store)@\(revision)" }
}

extension SessionHandle {
  /// The first 8 digits.
  fileprivate var short: String { String(description.prefix(8)) }
}

extension [KeptState] {
  /// Returns the state with a name that `list` has shown.
  func named(_ name: String) throws(StartupError) -> KeptState {
    guard let state = last(where: { $0.name == name || $0.name.printable == name }) else {
      throw StartupError("no state \(name) is kept aside; the command list shows all")
    }
    return state
  }
}

extension KeptState {
  /// Returns the line of the state in the output of `journal list`.
  ///
  /// - Parameter hasEnded: True if its session has ended.
  func line(hasEnded: Bool) -> String {
    let line = """
      kept \(name) kind \(kind) version \(version) \(state.count) bytes \(date): \
      \(reason)\(hasEnded ? "; the session has ended" : "")
      """
    return line.printable
  }

  /// Returns the state as a JSON object, for `journal list --json`.
  ///
  /// - Parameter hasEnded: True if its session has ended.
  func listing(hasEnded: Bool) -> JSONValue {
    [
      "name": .string(name), "store": .string(store), "kind": .string(kind),
      "version": .int(version), "revision": .int(revision), "bytes": .int(state.count),
      "time": .string(date), "reason": .string(reason), "sessionEnded": .bool(hasEnded),
    ]
  }

  private var date: String {
    Date(timeIntervalSince1970: TimeInterval(time.components.seconds)).formatted(.iso8601)
  }
}

extension JournalContents.Session {
  /// The line of the session in the output of `journal list`.
  var line: String {
    let stores = stores.map { store in
      let place = store.isClosed ? "closed" : "version \(store.version)"
      return "\(store.name) (\(store.kind), \(place), revision \(store.revision))"
    }
    let owner = owner.map { " of \($0)" } ?? ""
    let list = stores.isEmpty ? "no stores" : stores.joined(separator: ", ")
    // The names are those of clients.
    return "session \(handle.short)\(owner): \(list)".printable
  }

  /// The session as a JSON object, for `journal list --json`.
  var listing: JSONValue {
    let stores = stores.map { store -> JSONValue in
      [
        "store": .string(store.name), "kind": .string(store.kind),
        "version": .int(store.version), "revision": .int(store.revision),
        "closed": .bool(store.isClosed),
      ]
    }
    return [
      "session": .string(handle.short), "owner": owner.map { .string($0) } ?? .null,
      "stores": .array(stores),
    ]
  }
}

extension JSONValue {
  fileprivate static func int(_ number: Int) -> JSONValue { .number(JSONNumber(number)) }
}
