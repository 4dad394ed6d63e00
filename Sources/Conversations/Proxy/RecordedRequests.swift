// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The requests of one connection that have no response yet, and the kinds of its stores.
///
/// - Bound: the newest 10,000 requests and 1,000 stores. A response to a forgotten request, and a
///   store whose kind is not known, is redacted as a whole.
struct RecordedRequests: Sendable {
  /// A request, as far as its response depends on it.
  struct Request: Sendable, Equatable {
    let method: String
    let store: String?
    let kind: String?
  }

  static let maximumRequests = 10_000
  static let maximumStores = 1_000

  private var open: [String: Request] = [:]
  private var order: [String] = []
  /// The kinds of stores; nil for a store whose kind is not certain.
  private var kinds: [String: String?] = [:]
  /// True if another client may have opened stores, so that a name does not show the kind.
  private var isShared = false

  /// Notes a request, before its response.
  mutating func sent(_ request: Request, id: JSONValue?) {
    if let store = request.store, ["store/open", "store/close"].contains(request.method) {
      kinds.updateValue(nil, forKey: store)
    }
    if request.method == "session/attach" || kinds.count > Self.maximumStores {
      kinds = [:]
      isShared = true
    }
    guard let id else { return }
    open["\(id)"] = request
    order.append("\(id)")
    guard order.count > Self.maximumRequests else { return }
    for id in order.prefix(Self.maximumRequests / 2) { open[id] = nil }
    order.removeFirst(Self.maximumRequests / 2)
  }

  /// Returns the request of a response, which is not open any more; nil if it is not known.
  mutating func responded(id: JSONValue?, isError: Bool) -> Request? {
    guard let id, let request = open.removeValue(forKey: "\(id)") else { return nil }
    if open.isEmpty { order = [] }
    if request.method == "store/open", !isError, let store = request.store {
      kinds.updateValue(request.kind ?? store, forKey: store)
    }
    return request
  }

  /// Returns the kind of a store; nil if it is not known.
  func kind(of store: String, _ secrets: ServerSecrets) -> String? {
    if let kind = kinds[store] { return kind }
    // A store that was not opened has the kind of its name.
    return !isShared && secrets.describes(store) ? store : nil
  }
}
