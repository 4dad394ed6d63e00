// SPDX-License-Identifier: Apache-2.0

import StatewireJSON

/// The requests of one connection that have no response yet, and the kinds of its stores.
///
/// In a session that several clients can use, no kind is certain: another client can close a store
/// and open it with another kind, and only subscribers are notified.
///
/// - Bound: the newest 10,000 requests and 1,000 stores, whose texts have `byteCount` bytes. A
///   response to a forgotten request, and a store whose kind is not known, is redacted as a whole.
struct RecordedRequests: Sendable {
  /// A request, as far as its response depends on it.
  struct Request: Sendable, Equatable {
    let method: String
    let store: String?
    let kind: String?

    /// A request whose response can be that of another one: all of it is redacted.
    static let ambiguous = Request(method: "", store: nil, kind: nil)

    fileprivate var byteCount: Int {
      method.utf8.count + (store?.utf8.count ?? 0) + (kind?.utf8.count ?? 0) + 128
    }
  }

  static let maximumRequests = 10_000
  static let maximumStores = 1_000

  /// The open requests with one id; one, unless a client makes a mistake.
  private struct Open {
    var request: Request
    var count = 1
    let byteCount: Int
  }

  private var open: [String: Open] = [:]
  private var order: [String] = []
  /// The kinds of stores; nil for a store whose kind is not certain.
  private var kinds: [String: String?] = [:]
  /// True if no other client connects to the server, which the client has started.
  private let isAlone: Bool
  /// True if other clients may use the session, so that a name does not show the kind.
  private var isShared = false
  /// The memory of the requests and stores, approximately.
  private(set) var byteCount = 0

  /// Creates the requests of a new connection, which has a session of its own.
  ///
  /// - Parameter isAlone: True if no other client connects to the server.
  init(isAlone: Bool = false) { self.isAlone = isAlone }

  /// Records a request, before its response.
  mutating func sent(_ request: Request, id: JSONValue?) {
    if let store = request.store, ["store/open", "store/close"].contains(request.method) {
      setKind(nil, of: store)
    }
    let shares =
      request.method == "session/attach" || (!isAlone && request.method == "session/open")
    if shares || kinds.count > Self.maximumStores {
      for store in Array(kinds.keys) { forgetKind(of: store) }
      isShared = true
    }
    guard let id else { return }
    note(request, id: "\(id)")
    guard order.count > Self.maximumRequests else { return }
    for id in order.prefix(Self.maximumRequests / 2) {
      forget(id: id)
      byteCount -= id.utf8.count
    }
    order.removeFirst(Self.maximumRequests / 2)
  }

  /// Returns the request of a response, which is not open any more; nil if it is not known.
  mutating func responded(id: JSONValue?, isError: Bool) -> Request? {
    guard let id, let open = open["\(id)"] else { return nil }
    if open.count > 1 {
      self.open["\(id)"]?.count -= 1
    } else {
      forget(id: "\(id)")
      if self.open.isEmpty { clearOrder() }
    }
    let request = open.request
    if request.method == "store/open", !isError, let store = request.store {
      setKind(request.kind ?? store, of: store)
    }
    return request
  }

  /// Records that the server has closed a store.
  mutating func closed(_ store: String) { setKind(nil, of: store) }

  /// Returns the kind of a store; nil if it is not known.
  func kind(of store: String, _ secrets: ServerSecrets) -> String? {
    if isShared, !isAlone { return nil }
    if let kind = kinds[store] { return kind }
    // A store that was not opened has the kind of its name.
    return !isShared && secrets.describes(store) ? store : nil
  }

  private mutating func note(_ request: Request, id: String) {
    order.append(id)
    byteCount += id.utf8.count
    if open[id] != nil {
      open[id]?.request = .ambiguous
      open[id]?.count += 1
    } else {
      let bytes = request.byteCount + id.utf8.count
      open[id] = Open(request: request, byteCount: bytes)
      byteCount += bytes
    }
  }

  private mutating func forget(id: String) {
    byteCount -= open.removeValue(forKey: id)?.byteCount ?? 0
  }

  private mutating func clearOrder() {
    for id in order { byteCount -= id.utf8.count }
    order = []
  }

  private mutating func setKind(_ kind: String?, of store: String) {
    forgetKind(of: store)
    kinds.updateValue(kind, forKey: store)
    byteCount += store.utf8.count + (kind?.utf8.count ?? 0) + 64
  }

  private mutating func forgetKind(of store: String) {
    guard let kind = kinds.removeValue(forKey: store) else { return }
    byteCount -= store.utf8.count + (kind?.utf8.count ?? 0) + 64
  }
}
