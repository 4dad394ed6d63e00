// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("States of stores in programs")
struct ProcessStateTests {
  private func effects(_ texts: [String]) throws -> [PendingEffect] {
    try texts.enumerated().map { key, text in
      let effect = try JSON.decode(EffectDescription.self, from: Array(text.utf8))
      return PendingEffect(key: key, effect: effect, since: 0)
    }
  }

  private func every(_ id: String) -> String {
    #"{"type":"every","id":"\#(id)","milliseconds":1,"action":1}"#
  }
  private func after(_ id: String) -> String {
    #"{"type":"after","id":"\#(id)","milliseconds":1,"action":1}"#
  }
  private func cancel(_ id: String) -> String { #"{"type":"cancel","id":"\#(id)"}"# }

  private func keys(of updates: [[String]]) throws -> [Int] {
    var state = ProcessState(version: 1, state: .empty, view: nil, views: [:])
    var effects = try effects(updates.flatMap { $0 })[...]
    for update in updates {
      state.begin(Array(effects.prefix(update.count)))
      effects = effects.dropFirst(update.count)
      expectCounted(state)
    }
    let keys = state.pending.map(\.key)
    for key in keys + keys {
      state.end(key)
      expectCounted(state)
    }
    return keys
  }

  /// Checks that the bytes that were counted with each change are those of the present effects.
  private func expectCounted(_ state: ProcessState) {
    #expect(state.hiddenBytes == state.pending.reduce(0) { $0 + $1.bytes })
  }

  // Thousands that repeated each millisecond kept the loop of all stores busy.
  @Test("with many repeated effects, each of them repeats less often", arguments: [1, 10, 500])
  func intervals(count: Int) throws {
    var state = ProcessState(version: 1, state: .empty, view: nil, views: [:])
    let effects = try effects((0..<count).map { every("\($0)") } + [after("a")])
    state.begin(effects)
    #expect(state.leastInterval(beginning: effects) == count / 10)
    #expect(state.leastInterval(beginning: effects.suffix(1)) == 0)
  }

  @Test("an update cancels the effects before the cancellation, and not those after it")
  func cancellation() throws {
    #expect(
      try keys(of: [[after("a"), every("b")], [after("a"), cancel("a"), after("a"), cancel("c")]])
        == [1, 4])
  }

  @Test("one repeated effect runs for an id")
  func repetition() throws {
    #expect(
      try keys(of: [[every("a"), every("b")], [every("a"), cancel("b"), every("b")]]) == [0, 4])
    #expect(
      try keys(of: [[every("a"), every("a")], [cancel("a"), every("a"), every("a")]]) == [3])
  }

  @Test("ids and names are compared by their bytes")
  func bytes() throws {
    #expect(try keys(of: [[after("\u{e9}"), after("e\u{301}")], [cancel("\u{e9}")]]) == [1])
    let names = ["\u{e9}", "e\u{301}", "e", "\\u00e9", "\\", "\u{1F600}"]
    #expect(Set(names.map(viewName)).count == names.count)
    #expect(viewName("ann") == "ann")
    #expect(KeyedAudience("\u{e9}") != KeyedAudience("e\u{301}"))
  }
}
