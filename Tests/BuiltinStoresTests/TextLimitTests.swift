// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StateMachinesTesting
import StatewireJSON
import Testing

@Suite("Text limits")
struct TextLimitTests {
  let limits: TextLimits

  init() {
    var limits = TextLimits()
    limits.titleBytes = 4
    limits.fieldBytes = 3
    self.limits = limits
  }

  /// Checks the code and the member of a refusal, and that its message does not show the text.
  func check(
    _ refusal: InputRefusal?, _ code: InputRefusal.Code, _ member: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(refusal?.code == code, sourceLocation: sourceLocation)
    #expect(refusal?.member == member, sourceLocation: sourceLocation)
    #expect(refusal?.message.contains("xx") == false, sourceLocation: sourceLocation)
  }

  @Test("a title longer than the limit in bytes is refused")
  func titles() {
    let store = TodoStore(repository: MemoryTodoRepository(), limits: limits)
    let (short, long) = (TodoTitle("xxxx"), TodoTitle("xxxé"))
    #expect(store.refusal(of: .todoAdded(title: short)) == nil)
    #expect(store.refusal(of: .todoRenamed(id: "a long id", title: short)) == nil)
    check(store.refusal(of: .todoAdded(title: long)), .limit("titleBytes"), "title")
    check(store.refusal(of: .todoRenamed(id: "1", title: long)), .limit("titleBytes"), "title")

    let form = AddTodoStore(repository: MemoryTodoRepository(), limits: limits)
    #expect(form.refusal(of: .addTodo(title: short)) == nil)
    check(form.refusal(of: .addTodo(title: long)), .limit("titleBytes"), "title")
  }

  @Test("`validate` accepts a title that is too long, and the title is not valid")
  func validating() async throws {
    let machine = AddTodoStore(repository: MemoryTodoRepository(), limits: limits)
    let store = TestStore(machine)
    try await store.send(.validate(title: "xxxx")) { $0.shown.valid = true }
    try await store.send(.validate(title: "xxxxx")) { $0.shown.valid = false }
    #expect(machine.refusal(of: .validate(title: "xxxxx")) == nil)
  }

  @Test("each entry of a form has the limit in bytes")
  func entries() {
    let store = FormStore(limits: limits)
    let (short, long) = (FormEntry("xxx"), FormEntry("xxxx"))
    #expect(store.refusal(of: .firstEntryChanged(value: short)) == nil)
    #expect(store.refusal(of: .submitTapped) == nil)
    check(store.refusal(of: .firstEntryChanged(value: long)), .limit("fieldBytes"), "value")
    check(store.refusal(of: .secondEntryChanged(value: long)), .limit("fieldBytes"), "value")
    check(
      store.refusal(of: .entriesChanged(firstEntry: long, secondEntry: long)), .limit("fieldBytes"),
      "firstEntry")
    check(
      store.refusal(of: .entriesChanged(firstEntry: short, secondEntry: long)),
      .limit("fieldBytes"),
      "secondEntry")
  }
}
