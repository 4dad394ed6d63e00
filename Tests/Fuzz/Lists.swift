// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import StatewireJSON
import VersionedList

/// A list that changes as bytes describe, and clients that are updated to it.
///
/// A byte selects a change, and the following bytes its place and kind. Missing bytes count as 0.
///
/// A diffable state, a state that is written without its list, and a state that is encoded as a
/// whole must give the same patch. Only if the comparison of the last one exceeds its bound of work
/// may it replace the whole document. The patch must lead to the list, and be empty exactly if the
/// client has the list.
struct Lists {
  static func run(_ bytes: [UInt8]) {
    var lists = Lists(bytes)
    while !lists.bytes.isEmpty { lists.step() }
    for client in lists.clients.indices { lists.updateClient(client) }
  }

  private var bytes: ArraySlice<UInt8>
  private var list = KeyedList<Todo>()
  /// An earlier copy, which changes independently.
  private var other: KeyedList<Todo>
  private var isLoading = false
  private var isFailed = false
  private var clients: [ListClient]
  private var createdCount = 0
  /// The remaining budget of elements that may be written, and of changes in succession.
  private var budget = 3_000

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes.dropFirst()
    // In some cases more elements than a tree node has.
    for number in 0..<Int(bytes.first ?? 0) { list.append(Todo(id: "\(number)", title: "")) }
    other = list
    clients = [ListClient(.loading), ListClient(.content(todos: list))]
  }

  private mutating func step() {
    switch next() % 13 {
    case 0: list.append(newTodo(next()))
    case 1: list.insert(newTodo(next()), at: place(below: list.count + 1))
    case 2:
      // An existing element is replaced in place.
      let id = id()
      list.insert(Todo(id: id, title: title(next())), at: place(below: list.count + 1))
    case 3: rename(id(), next())
    case 4: list.update(id: id()) { $0.completed.toggle() }
    case 5: list.remove(id: id())
    case 6: list.move(id: id(), before: next() % 8 == 0 ? nil : id())
    case 7: show(next())
    case 8: copy(next())
    case 9:
      // More changes than the change log keeps.
      let size = min(next(), budget)
      for number in 0..<size { rename(id(), number) }
      budget -= size
    case 10: clients[next() % clients.count] = clients[next() % clients.count]
    default: updateClient(next() % clients.count)
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
    // An equal list that is loaded again: it shares nothing with the other one but ids.
    default: list = KeyedList(Array(list))
    }
  }

  private mutating func updateClient(_ client: Int) {
    guard budget > list.count + 10 else { return }
    budget -= list.count + 10
    clients[client].receive(
      isLoading ? .loading : isFailed ? .error(code: "c", message: "m") : .content(todos: list))
  }

  private mutating func rename(_ id: String, _ number: Int) {
    let title = title(number)
    list.update(id: id) { $0.title = title }
  }

  private mutating func newTodo(_ number: Int) -> Todo {
    createdCount += 1
    return Todo(id: "new \(createdCount)", title: title(number))
  }

  // Few titles, so that a change is often reverted.
  private func title(_ number: Int) -> String { ["", "é\u{1}", "a longer title"][number % 3] }

  /// Returns the id of an element, or an unknown id.
  private mutating func id() -> String {
    let place = place(below: list.count + 1)
    return place < list.count ? list[place].id : "unknown"
  }

  private mutating func place(below count: Int) -> Int { (next() << 8 | next()) % count }

  private mutating func next() -> Int { Int(bytes.popFirst() ?? 0) }
}

/// A client, and its state in each of the three forms.
private struct ListClient {
  typealias View = TodoStore.ViewState

  private var diffable: JSONEncodedState
  private var written: JSONEncodedState
  private var encoded: JSONEncodedState
  /// The document that results from the client's patches.
  private var document: JSONValue

  init(_ view: View) {
    let state = Self.state(view)
    (diffable, written, encoded) = (state, state, state)
    document = value(Self.text(view)) ?? .null
  }

  mutating func receive(_ view: View) {
    let encoding = JSONEncoding<View>()
    var writer = JSONWriter()
    let short = Self.patch { patch throws(JSONError) in
      // The path of a store.
      try TodoStore.advance(&diffable, to: view, by: encoding, using: &writer, writing: &patch)
    }
    let long = Self.patch { patch throws(JSONError) in
      try written.advance(to: view, by: encoding, using: &writer, writing: &patch)
    }
    let state = Self.state(view)
    // The bound of `JSONDifference`.
    let bound = 3 * (encoded.textBytes + state.textBytes + 256)
    JSONWork.bytes = 0
    let whole = Self.patch { patch in encoded.advance(to: state, writing: &patch) }
    let isBeyond = JSONWork.bytes > bound
    expect(short == long, "a diffable list leads to \(short), a written one to \(long)")

    let text = Self.text(view)
    guard let new = value(text) else { fatalError("a list is written as invalid JSON") }
    expect(
      short == whole
        || isBeyond && !short.isEmpty && whole == JSONPatch([.replace(JSONPointer([]), new)]),
      "a diffable list leads to \(short), an encoded one to \(whole)")
    expect(
      short.isEmpty == (document == new),
      "a difference is empty although the values differ, or the reverse")
    let limits = JSONLimits(maximumDepth: .max)
    expect(
      (try? short.apply(to: document, limits: limits)) == new,
      "a difference does not lead to the new value: \(short.value)")
    document = new
    for state in [diffable, written, encoded] {
      expect(state.wholeText == text, "a stored state differs from the client's state")
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
