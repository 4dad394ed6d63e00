// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// What a client knows of a store; its states have no type here, since nobody may look at them.
final class StoreRecord {
  /// What is drawn on top of the server's state until the answer to an input is there.
  struct Drawing {
    let draw: StoreLook.Draw
    let untilSettled: Bool
    let input: Input
  }

  /// Which of a client's stores it is; a name that was closed and opened again is another one.
  let number: Int
  let name: String
  let kind: String
  let config: JSONValue?

  /// Whether the server is to send what changes, over all connections.
  var isSubscribed = false
  /// How often the state was asked for anew, by reason.
  var resynchronisations: [Fault: Int] = [:]
  /// Told when there is another state to see.
  var news = News()
  var events = Happenings<JSONValue>()
  private(set) var view: View?
  private var drawings: [Drawing] = []

  init(number: Int, name: String, kind: String, config: JSONValue?) {
    self.number = number
    self.name = name
    self.kind = kind
    self.config = config
  }

  /// What there is to see.
  var look: StoreLook? {
    view.map {
      StoreLook(revision: $0.revision, confirmed: $0.state, drawings: drawings.map(\.draw))
    }
  }

  /// There is a state: this view's, which may be another one than before.
  func held(_ view: View?) {
    if let view { self.view = view }
    news.tell()
  }

  /// A frame has come; `applied` is the request that it contains, of this connection.
  func changed(applied: Int?) {
    if let applied, !drawings.isEmpty {
      drawings.removeAll { drawing in
        !drawing.untilSettled && drawing.input.request.map { $0 <= applied } ?? false
      }
    }
    news.tell()
  }

  /// Draws what an input will probably make of the state.
  func draw(_ drawing: Drawing) {
    drawings.append(drawing)
    news.tell()
  }

  /// Draws it no more.
  func undraw(_ input: Input?) {
    let count = drawings.count
    drawings.removeAll { $0.input === input }
    if drawings.count != count { news.tell() }
  }

  /// Nothing more comes.
  func end(_ error: (any Error)?) {
    isSubscribed = false
    news.end(throwing: error)
    events.end(throwing: error)
  }
}

/// What there is to see of a store at one moment.
struct StoreLook: Sendable {
  typealias Draw = @Sendable (any Sendable) -> any Sendable

  let revision: Int
  /// The state as the server has told it.
  let confirmed: JSONValue
  /// What is drawn on top of it, first to last.
  var drawings: [Draw]
}
