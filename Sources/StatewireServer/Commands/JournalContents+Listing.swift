// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import StatewireJSON
internal import Transports

// What the command `journal` shows of a journal.

extension KeptState {
  /// The name by which a command refers to the state. It has a part of the handle only, because the
  /// handle is a secret.
  var name: String { "\(session.short)/\(store)@\(revision)" }
}

extension SessionHandle {
  /// The first 8 digits.
  fileprivate var short: String { String(description.prefix(8)) }
}

extension JournalContents {
  /// Returns the state with a name that `list` has shown.
  func keptState(_ name: String) throws(StartupError) -> KeptState {
    let found = kept.filter { $0.name == name }
    guard let state = found.last else {
      throw StartupError("no state \(name) is kept aside; the command list shows all")
    }
    return state
  }

  /// Lines for people.
  var lines: [String] {
    let open = Set(sessions.map(\.handle))
    let keptLines = kept.map { state in
      let end = open.contains(state.session) ? "" : "; the session has ended"
      return """
        kept \(state.name) kind \(state.kind) version \(state.version) \(state.state.count) bytes \
        \(state.date): \(state.reason)\(end)
        """
    }
    let sessionLines = sessions.map { session in
      let stores = session.stores.map { store in
        let place = store.isClosed ? "closed" : "version \(store.version)"
        return "\(store.name) (\(store.kind), \(place), revision \(store.revision))"
      }
      let owner = session.owner.map { " of \($0)" } ?? ""
      return "session \(session.handle.short)\(owner): "
        + (stores.isEmpty ? "no stores" : stores.joined(separator: ", "))
    }
    let counts = "\(kept.count) states are kept aside, \(sessions.count) sessions"
    return sessionLines + keptLines + [counts]
  }

  /// The same as JSON.
  var listing: JSONValue {
    let open = Set(sessions.map(\.handle))
    let keptValues = kept.map { state -> JSONValue in
      [
        "name": .string(state.name), "store": .string(state.store), "kind": .string(state.kind),
        "version": .int(state.version), "revision": .int(state.revision),
        "bytes": .int(state.state.count), "time": .string(state.date),
        "reason": .string(state.reason), "sessionEnded": .bool(!open.contains(state.session)),
      ]
    }
    let sessionValues = sessions.map { session -> JSONValue in
      let stores = session.stores.map { store -> JSONValue in
        [
          "store": .string(store.name), "kind": .string(store.kind),
          "version": .int(store.version), "revision": .int(store.revision),
          "closed": .bool(store.isClosed),
        ]
      }
      return [
        "session": .string(session.handle.short),
        "owner": session.owner.map { .string($0) } ?? .null, "stores": .array(stores),
      ]
    }
    return ["sessions": .array(sessionValues), "kept": .array(keptValues)]
  }
}

extension KeptState {
  fileprivate var date: String {
    Date(timeIntervalSince1970: TimeInterval(time.components.seconds)).formatted(.iso8601)
  }
}

extension JSONValue {
  fileprivate static func int(_ number: Int) -> JSONValue { .number(JSONNumber(number)) }
}
