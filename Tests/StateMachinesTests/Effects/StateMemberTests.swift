// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StateMachines

/// A part, a part of a part, and parts that have no place of their own.
private struct Whole: Sendable {
  struct Part: Sendable { var (before, name) = (1, "part") }

  var flag = true
  var part = Part()
  var list = ["first", "second"]
  var observed = "observed" { didSet { changes += 1 } }
  var changes = 0
  var computed: String {
    get { part.name + "!" }
    set { part.name = newValue }
  }
}

@Suite("Members of states")
struct StateMemberTests {
  @Test(
    "are read and changed in place: stored and nested ones, elements, computed and observed ones",
    arguments: [
      (\Whole.part.name, "part"), (\Whole.list[1], "second"), (\Whole.computed, "part!"),
      (\Whole.observed, "observed"),
    ] as [(any WritableKeyPath<Whole, String> & Sendable, String)])
  fileprivate func members(path: any WritableKeyPath<Whole, String> & Sendable, value: String) {
    let member = StateMember(path)
    var whole = Whole()
    #expect((member.offset != nil) == (path == \Whole.part.name))
    #expect(member.value(in: whole) == value)
    let earlier = whole
    member.change(in: &whole) { $0 = "a text that is too long to be stored in place" }
    #expect(whole[keyPath: path].hasPrefix("a text that is too long to be stored in place"))
    #expect(earlier[keyPath: path] == value, "a copy has its own value")
    #expect(whole.changes == (path == \Whole.observed ? 1 : 0))
    #expect(whole.flag && whole.part.before == 1 && whole.list[0] == "first")
  }
}
