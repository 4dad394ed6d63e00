// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

/// The states of a client's stores, and the rules that every update and every response must
/// satisfy.
///
/// - The updates of a store have no gap, and each of them changes the state.
/// - `applied` is the latest request of this client to the store.
/// - A response has the revision of the client's state, and `changed` is true if this state differs
///   from the state when the input was sent.
struct StoreModel {
  struct Held {
    var revision: Int
    var state: JSONValue
    var applied: String?
  }

  private struct Request {
    let store: String
    let before: JSONValue
  }

  private(set) var held: [String: Held] = [:]
  private var open: [String: Request] = [:]
  /// The input that is being folded. Until its response, both its own id and the previous id are
  /// correct in `applied`.
  private var current: (id: String, store: String, earlier: String?)?
  /// Checks an update of a store, from the states before and after it.
  var check: (_ store: String, _ old: JSONValue, _ new: JSONValue) -> Void = { _, _, _ in }

  /// The ids of settled requests without a response.
  var openRequests: [String] { open.keys.sorted() }

  mutating func subscribed(_ store: String, _ result: JSONValue) throws {
    held[store] = Held(
      revision: try #require(result["revision"]?.int), state: try #require(result["state"]))
  }

  /// Records an input that is about to be sent.
  mutating func sends(_ id: String, to store: String) throws {
    let held = try #require(held[store])
    open[id] = Request(store: store, before: held.state)
    current = (id, store, held.applied)
    self.held[store]?.applied = id
  }

  /// Records that all immediate effects of the input have arrived.
  mutating func becameIdle() { current = nil }

  mutating func received(_ text: String) throws {
    let message = try JSONValue(parsing: text)
    if message["method"]?.string == "store/changed" {
      return try changed(try #require(message["params"]))
    }
    guard let id = message["id"].map({ $0.description }), let request = open[id] else { return }
    open[id] = nil
    guard let result = message["result"] else {
      #expect(message["error"]?["code"]?.int == -32800, "\(text)")
      return
    }
    let held = try #require(held[request.store])
    #expect(result["revision"]?.int == held.revision, "\(request.store) \(text)")
    #expect(
      result["changed"]?.bool == (request.before != held.state),
      "\(request.store) \(text): \(request.before) \(held.state)")
  }

  private mutating func changed(_ params: JSONValue) throws {
    let store = try #require(params["store"]?.string)
    let before = try #require(held[store])
    #expect(params["base"]?.int == before.revision)
    #expect(params["revision"]?.int == before.revision + 1)
    let applied = params["applied"].flatMap { $0.isNull ? nil : $0.description }
    let isInHand = current?.store == store
    #expect(
      applied == before.applied || isInHand && applied == current?.earlier,
      "\(store) received applied \(applied ?? "null") for \(before.applied ?? "null")")
    let patch = try JSONPatch(try #require(params["patch"]))
    let state = try patch.apply(to: before.state)
    #expect(state != before.state)
    held[store]?.revision += 1
    held[store]?.state = state
    check(store, before.state, state)
  }
}
