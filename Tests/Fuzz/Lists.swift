// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StatewireJSON
import VersionedList

/// A list that changes as bytes say, and clients that are brought to it.
///
/// A byte names a change, and the ones after it where and how. Bytes that are missing are 0.
///
/// A diffable state, one that is written without its list, and one that is encoded as a whole lead to the same
/// patch. The patch leads to the list, and is empty exactly if the client has it.
struct Lists {
  static func run(_ bytes: [UInt8]) {
    var lists = Lists(bytes)
    while !lists.bytes.isEmpty { lists.step() }
    for client in lists.clients.indices { lists.bring(client) }
  }

  private var bytes: ArraySlice<UInt8>
  private var list = KeyedList<Todo>()
  /// A copy of some time before, which changes on its own.
  private var other: KeyedList<Todo>
  private var isLoading = false
  private var isFailed = false
  private var clients: [ListClient]
  private var made = 0
  /// How many elements may be written, and changed in a row.
  private var room = 3_000

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes.dropFirst()
    // Some with more elements than a node of the tree has.
    for number in 0..<Int(bytes.first ?? 0) { list.append(Todo(id: "\(number)", title: "")) }
    other = list
    clients = [ListClient(.loading), ListClient(.content(todos: list))]
  }

  private mutating func step() {
    switch next() % 13 {
    case 0: list.append(made(next()))
    case 1: list.insert(made(next()), at: place(below: list.count + 1))
    case 2:
      // One that is there is replaced where it stands.
      let id = id()
      list.insert(Todo(id: id, title: title(next())), at: place(below: list.count + 1))
    case 3: rename(id(), next())
    case 4: list.update(id: id()) { $0.completed.toggle() }
    case 5: list.remove(id: id())
    case 6: list.move(id: id(), before: next() % 8 == 0 ? nil : id())
    case 7: show(next())
    case 8: copy(next())
    case 9:
      // More changes than a list remembers.
      let size = min(next(), room)
      for number in 0..<size { rename(id(), number) }
      room -= size
    case 10: clients[next() % clients.count] = clients[next() % clients.count]
    default: bring(next() % clients.count)
    }
  }

  private mutating func show(_ shown: Int) {
    isLoading = shown % 3 == 1
    isFailed = shown % 3 == 2
  }

  private mutating func copy(_ how: Int) {
    switch how % 3 {
    case 0: other = list
    case 1: swap(&list, &other)
    // Equal, and loaded again: nothing in common with the other one but ids.
    default: list = KeyedList(Array(list))
    }
  }

  private mutating func bring(_ client: Int) {
    guard room > list.count + 10 else { return }
    room -= list.count + 10
    clients[client].follow(
      isLoading ? .loading : isFailed ? .error(code: "c", message: "m") : .content(todos: list))
  }

  private mutating func rename(_ id: String, _ number: Int) {
    let title = title(number)
    list.update(id: id) { $0.title = title }
  }

  private mutating func made(_ number: Int) -> Todo {
    made += 1
    return Todo(id: "new \(made)", title: title(number))
  }

  // Few, so that a change is often taken back.
  private func title(_ number: Int) -> String { ["", "é\u{1}", "a longer title"][number % 3] }

  /// The id of an element; one that is not there if there is none.
  private mutating func id() -> String {
    let place = place(below: list.count + 1)
    return place < list.count ? list[place].id : "nobody"
  }

  private mutating func place(below count: Int) -> Int { (next() << 8 | next()) % count }

  private mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }
}

/// A client, and what is kept for it in each of the three ways.
private struct ListClient {
  typealias View = TodoStore.ViewState

  private var diffable: JSONEncodedState
  private var written: JSONEncodedState
  private var encoded: JSONEncodedState
  /// What the client has made of its patches.
  private var document: JSONValue

  init(_ view: View) {
    let state = Self.state(view)
    (diffable, written, encoded) = (state, state, state)
    document = value(Self.text(view)) ?? .null
  }

  mutating func follow(_ view: View) {
    let encoding = JSONEncoding<View>()
    var writer = JSONWriter()
    let short = Self.patch { patch throws(JSONError) in
      // The way that a store takes.
      try TodoStore.advance(&diffable, to: view, by: encoding, using: &writer, writing: &patch)
    }
    let long = Self.patch { patch throws(JSONError) in
      try written.advance(to: view, by: encoding, using: &writer, writing: &patch)
    }
    let whole = Self.patch { patch in encoded.advance(to: Self.state(view), writing: &patch) }
    expect(short == long, "a diffable list leads to \(short), a written one to \(long)")
    expect(short == whole, "a diffable list leads to \(short), an encoded one to \(whole)")

    let text = Self.text(view)
    guard let new = value(text) else { fatalError("a list is written that is no JSON") }
    expect(short.isEmpty == (document == new), "a difference is empty, or should be")
    let limits = JSONLimits(maximumDepth: .max)
    expect(
      (try? short.apply(to: document, limits: limits)) == new,
      "a difference leads elsewhere: \(short.value)")
    document = new
    for state in [diffable, written, encoded] {
      expect(state.wholeText == text, "another state is kept than the client has")
    }
  }

  private static func state(_ view: View) -> JSONEncodedState {
    guard let state = try? JSONEncodedState(view) else { fatalError("a list has no text") }
    return state
  }

  private static func text(_ view: View) -> [UInt8] {
    guard let text = try? JSON.encode(view) else { fatalError("a list has no text") }
    return text
  }

  private static func patch(
    _ body: (inout JSONPatchWriter) throws(JSONError) -> Void
  ) -> JSONPatch {
    var writer = JSONPatchWriter()
    guard (try? body(&writer)) != nil, let tree = value(writer.bytes()),
      let patch = try? JSONPatch(tree)
    else { fatalError("a list has no patch") }
    return patch
  }
}
