// SPDX-License-Identifier: Apache-2.0

import BuiltinStoresProtocol
import StateMachines
import StateMachinesTesting
import StatewireJSON
import TestSupport
import Testing

@testable import BuiltinStores

@Suite("Form store")
struct FormStoreTests {
  static let match = "Values for fields must match."
  static let length = "Please enter values of at least 5 characters."

  // MARK: States

  @Test("the initial state is validated: empty entries, too short, not allowed to submit")
  func initial() async throws {
    #expect(
      try await published([]) == [
        #"{"firstEntry":"","secondEntry":"","validationMessages":["\#(Self.length)"],"#
          + #""submitAllowed":false}"#
      ])
  }

  @Test(
    "the form shows the messages for two entries, independently of the order of the changes",
    arguments: [
      ("", "", [length], false),
      ("abcde", "", [match, length], false),
      ("abcd", "abcd", [length], false),
      ("abcde", "abcdf", [match], false),
      ("abcde", "abcde", [], true),
      ("     ", "     ", [], true),
    ] as [(FormEntry, FormEntry, [String], Bool)], [Way.firstThenSecond, .secondThenFirst, .both])
  func table(
    row: (first: FormEntry, second: FormEntry, messages: [String], isAllowed: Bool), way: Way
  ) async throws {
    let store = TestStore(FormStore(), exhaustive: false)
    for input in way.inputs(row.first, row.second) { try await store.send(input) }
    #expect(
      await store.state
        == FormViewState(
          firstEntry: row.first, secondEntry: row.second, validationMessages: row.messages,
          submitAllowed: row.isAllowed))
    try await store.finish()
  }

  /// The order in which the entries change.
  enum Way: Sendable {
    case firstThenSecond, secondThenFirst, both

    func inputs(_ first: FormEntry, _ second: FormEntry) -> [FormInput] {
      switch self {
      case .firstThenSecond:
        [.firstEntryChanged(value: first), .secondEntryChanged(value: second)]
      case .secondThenFirst:
        [.secondEntryChanged(value: second), .firstEntryChanged(value: first)]
      case .both: [.entriesChanged(firstEntry: first, secondEntry: second)]
      }
    }
  }

  @Test("the form validates after each keystroke, also from allowed back to not allowed")
  func keystrokes() async throws {
    let store = TestStore(FormStore())
    try await store.send(.entriesChanged(firstEntry: "abcd", secondEntry: "abcde")) {
      $0.firstEntry = "abcd"
      $0.secondEntry = "abcde"
      $0.validationMessages = [Self.match, Self.length]
    }
    try await store.send(.firstEntryChanged(value: "abcde")) {
      $0.firstEntry = "abcde"
      $0.validationMessages = []
      $0.submitAllowed = true
    }
    try await store.send(.secondEntryChanged(value: "abcdef")) {
      $0.secondEntry = "abcdef"
      $0.validationMessages = [Self.match]
      $0.submitAllowed = false
    }
    try await store.finish()
  }

  @Test("the form validates once per change, after the new entries are set, and not on submission")
  func validations() async throws {
    let seen = Record<[FormEntry]>([])
    let watching = FormRule(text: Text(code: "x", message: "x")) { first, second in
      seen.add([first, second])
      return false
    }
    let store = TestStore(FormStore(rules: [watching]), exhaustive: false)
    try await store.send(.firstEntryChanged(value: "a"))
    try await store.send(.secondEntryChanged(value: "b"))
    try await store.send(.entriesChanged(firstEntry: "c", secondEntry: "d"))
    try await store.send(.submitTapped)
    try await store.finish()
    #expect(seen.all == [["", ""], ["a", ""], ["a", "b"], ["c", "d"]])
  }

  // MARK: Publications

  @Test("a change of both entries is one publication with all its results")
  func oneChange() async throws {
    let patches = try await published([
      #"{"type":"entriesChanged","firstEntry":"abcde","secondEntry":"abcde"}"#
    ])
    .dropFirst()
    #expect(patches.count == 1)
    #expect(try state(patches)["submitAllowed"] == true)
    #expect(try state(patches)["firstEntry"] == "abcde")
    #expect(try state(patches)["secondEntry"] == "abcde")
  }

  @Test("a change of one entry and its messages is one publication")
  func oneEntry() async throws {
    let patches = try await published([
      #"{"type":"firstEntryChanged","value":"abcde"}"#,
      #"{"type":"secondEntryChanged","value":"abcdef"}"#,
    ]).dropFirst()
    #expect(patches.count == 2)
    #expect(
      try state(patches)["validationMessages"] == .array([.string(Self.match)]))
  }

  @Test(
    "an input that changes nothing causes no publication",
    arguments: [
      #"{"type":"firstEntryChanged","value":"abcde"}"#,
      #"{"type":"secondEntryChanged","value":"abcde"}"#,
      #"{"type":"entriesChanged","firstEntry":"abcde","secondEntry":"abcde"}"#,
      #"{"type":"submitTapped"}"#,
    ])
  func noChange(input: String) async throws {
    let filled = #"{"type":"entriesChanged","firstEntry":"abcde","secondEntry":"abcde"}"#
    #expect(try await published([filled, input]).count == 2)
  }

  @Test("a different composition of é is published, although the messages do not change")
  func composition() async throws {
    let patches = try await published([
      #"{"type":"entriesChanged","firstEntry":"caf\u00e9s","secondEntry":"caf\u00e9s"}"#,
      #"{"type":"firstEntryChanged","value":"cafe\u0301s"}"#,
    ])
    #expect(patches.count == 3)
    let last = try #require(patches.last)
    #expect(
      last.utf8.elementsEqual(
        "[{\"op\":\"replace\",\"path\":\"/firstEntry\",\"value\":\"cafe\u{301}s\"}]".utf8))
    #expect(try state(patches.dropFirst())["submitAllowed"] == true)
  }

  // MARK: Submitting

  @Test("`submitTapped` publishes one event for each tap while allowed, and changes no state")
  func submitting() async throws {
    let store = TestStore(FormStore())
    try await store.send(.entriesChanged(firstEntry: "abcde", secondEntry: "abcde")) {
      $0.firstEntry = "abcde"
      $0.secondEntry = "abcde"
      $0.validationMessages = []
      $0.submitAllowed = true
    }
    for _ in 0..<2 {
      try await store.send(.submitTapped)
      try await store.receive(event: .submitted)
    }
    try await store.finish()
  }

  @Test(
    "`submitTapped` publishes no event while not allowed",
    arguments: [("", ""), ("abcde", ""), ("abcd", "abcd"), ("abcde", "abcdf")]
      as [(FormEntry, FormEntry)])
  func notAllowed(first: FormEntry, second: FormEntry) async throws {
    let store = TestStore(FormStore(), exhaustive: false)
    try await store.send(.entriesChanged(firstEntry: "abcde", secondEntry: "abcde"))
    try await store.send(.entriesChanged(firstEntry: first, secondEntry: second))
    let before = await store.state
    try await store.send(.submitTapped)
    #expect(await store.state == before)
    await #expect(throws: TestFailure.self) { try await store.receive(event: .submitted) }
    try await store.finish()
  }

  @Test("a change publishes no event, also if it makes submission allowed")
  func changesGiveNoEvent() async throws {
    let store = TestStore(FormStore(), exhaustive: false)
    for input in [
      .firstEntryChanged(value: "abcde"), .secondEntryChanged(value: "abcde"),
      .entriesChanged(firstEntry: "fghij", secondEntry: "fghij"),
    ] as [FormInput] {
      try await store.send(input)
    }
    #expect(await store.state.submitAllowed)
    await #expect(throws: TestFailure.self) { try await store.receive(event: .submitted) }
    try await store.finish()
  }

  // MARK: Secrets

  @Test("no description, reflection or dump of inputs, actions and states contains the entries")
  func secrets() {
    let store = FormStore()
    var state = store.initialState
    store.reduce(&state, .setEntries(first: "hunter2", second: "hunter2"))
    let values: [Any] = [
      FormInput.firstEntryChanged(value: "hunter2"), FormInput.secondEntryChanged(value: "hunter2"),
      FormInput.entriesChanged(firstEntry: "hunter2", secondEntry: "hunter2"),
      FormStore.Action.setFirstEntry("hunter2"), FormStore.Action.setSecondEntry("hunter2"),
      FormStore.Action.setEntries(first: "hunter2", second: "hunter2"), state,
      store.effect(of: .firstEntryChanged(value: "hunter2"), in: state),
    ]
    for value in values {
      var dumped = ""
      dump(value, to: &dumped)
      for shown in ["\(value)", String(describing: value), String(reflecting: value), dumped] {
        #expect(!shown.contains("hunter2"), "\(type(of: value))")
      }
    }
  }

  // MARK: Support

  private func published(_ inputs: [String]) async throws -> [String] {
    try await Published<FormStore>().texts(FormStore(), inputs)
  }

  /// Returns the state after the patches.
  private func state(_ patches: ArraySlice<String>) throws -> JSONValue {
    var state = try JSON.value(FormStore().initialState)
    for patch in patches { state = try JSONPatch(JSONValue(parsing: patch)).apply(to: state) }
    return state
  }
}
