// SPDX-License-Identifier: Apache-2.0

import Sessions
import StateMachines
import StatewireJSON
import Testing

@testable import ServerCore

/// Stores with a new state that cannot be encoded as JSON.
@Suite("States that cannot be encoded")
struct UnencodableTests {
  private let failures = Lock<[String]>([])
  private let journal = PlainJournal()
  private let client: TestClient

  init() {
    let failures = failures
    client = TestClient(
      World(
        journal: journal, kinds: [StoreKind("ratio") { Ratio() }],
        storeFailed: { failure in
          failures.withLock { $0.append("\(failure.request ?? "none"): \(failure)") }
        }))
  }

  private func divide(_ id: Int, by divisor: Int, sequence: Int? = nil) -> String {
    let more = sequence.map { ",\"sequence\":\($0)" } ?? ""
    return request(
      "\(id)", "store/send",
      "{\"store\":\"ratio\",\"input\":{\"type\":\"divide\",\"divisor\":\(divisor)}\(more)}")
  }

  private let refused = """
    {"code":-32603,"message":"the input was undone, because the new state cannot be encoded as JSON: the number \
    inf cannot be represented in JSON","data":{"path":"/value"}}
    """

  // From then on the store sent no updates, and responses stated that inputs had changed nothing.
  @Test(
    "the sender gets an error, a line is logged, and the store continues from the earlier state")
  func taken() async throws {
    client.send(divide(1, by: 2), subscribe("2", "ratio"))
    _ = client.takeMessages()
    // On the general path, and on the request template's path.
    client.send(divide(3, by: 0))
    client.send(divide(4, by: 0))
    let errors = client.takeMessages()
    #expect(
      errors == [3, 4].map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"error\":\(refused)}" })
    #expect(failures.withLock { $0.count } == 2)
    #expect(
      failures.withLock { $0[0] } == """
        3: a new state of the store "ratio" of kind "ratio" cannot be encoded, at "/value": the number inf cannot be \
        represented in JSON; the store continues from the state before
        """)
    client.send(divide(5, by: 5))
    let messages = client.takeMessages()
    #expect(messages.count == 2)
    #expect(messages[0].contains(#"{"op":"replace","path":"/value","value":0.1}"#))
  }

  @Test("actions before the rejected one are published, and later actions are dropped")
  func part() async throws {
    client.send(subscribe("1", "ratio"))
    _ = client.takeMessages()
    let input = #"{"type":"divideTwice","by":2,"then":0}"#
    client.send(request("2", "store/send", "{\"store\":\"ratio\",\"input\":\(input)}"))
    let messages = client.takeMessages()
    #expect(messages.count == 2)
    #expect(messages[0].contains(#""revision":1,"#) && messages[0].contains(#""value":0.5"#))
    #expect(messages[1] == "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":\(refused)}")
    client.send(divide(3, by: 5))
    #expect(client.takeMessages()[0].contains(#""value":0.1"#))
  }

  @Test("an input that is sent again after its response was lost gets the same error")
  func again() async throws {
    client.send(
      request("1", "session/open", #"{"frontend":"page"}"#), divide(2, by: 2, sequence: 1))
    _ = client.takeMessages()
    for _ in 1...2 {
      client.send(divide(3, by: 0, sequence: 2))
      #expect(
        client.takeMessages() == ["{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":\(refused)}"])
    }
    client.send(divide(4, by: 5, sequence: 3))
    #expect(client.takeMessages().count == 1)
  }
}

/// Divides a number repeatedly.
private struct Ratio: DurableMachine {
  enum Input: Codable, Sendable {
    case divide(divisor: Int)
    case divideTwice(by: Int, then: Int)
  }
  struct State: Codable, Sendable {
    var value = 1.0
  }

  let initialState = State()

  func effect(of input: Input, in state: State) -> Effect<Input> {
    switch input {
    case .divide: .action(input)
    case .divideTwice(let by, let then):
      .several(
        .action(.divide(divisor: by)), .action(.divide(divisor: then)), .action(.divide(divisor: 1))
      )
    }
  }

  func reduce(_ state: inout State, _ action: Input) {
    guard case .divide(let divisor) = action else { return }
    state.value /= Double(divisor)
  }

  func restart(of input: Input, in state: State, after age: Duration) -> Effect<Input> { .none }
}
