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
  private let peer: Peer

  init() {
    let failures = failures
    peer = Peer(
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
    {"code":-32603,"message":"the input was undone, because the new state cannot be encoded as JSON: JSON has no \
    number for inf","data":{"path":"/value"}}
    """

  // From then on the store sent no updates, and responses stated that inputs had changed nothing.
  @Test(
    "the sender gets an error, a line is logged, and the store continues from the earlier state")
  func taken() async throws {
    peer.send(divide(1, by: 2), subscribe("2", "ratio"))
    _ = peer.takeMessages()
    // On the general path, and on the request template's path.
    peer.send(divide(3, by: 0))
    peer.send(divide(4, by: 0))
    let errors = peer.takeMessages()
    #expect(
      errors == [3, 4].map { "{\"jsonrpc\":\"2.0\",\"id\":\($0),\"error\":\(refused)}" })
    #expect(failures.withLock { $0.count } == 2)
    #expect(
      failures.withLock { $0[0] } == """
        3: a new state of the store "ratio" of kind "ratio" cannot be encoded, at "/value": JSON has no number for inf; \
        the store continues from the state before
        """)
    peer.send(divide(5, by: 5))
    let messages = peer.takeMessages()
    #expect(messages.count == 2)
    #expect(messages[0].contains(#"{"op":"replace","path":"/value","value":0.1}"#))
  }

  @Test("actions before the rejected one are published, and later actions are dropped")
  func part() async throws {
    peer.send(subscribe("1", "ratio"))
    _ = peer.takeMessages()
    let input = #"{"type":"divideTwice","by":2,"then":0}"#
    peer.send(request("2", "store/send", "{\"store\":\"ratio\",\"input\":\(input)}"))
    let messages = peer.takeMessages()
    #expect(messages.count == 2)
    #expect(messages[0].contains(#""revision":1,"#) && messages[0].contains(#""value":0.5"#))
    #expect(messages[1] == "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":\(refused)}")
    peer.send(divide(3, by: 5))
    #expect(peer.takeMessages()[0].contains(#""value":0.1"#))
  }

  @Test("an input that is sent again after its response was lost gets the same error")
  func again() async throws {
    peer.send(request("1", "session/open", #"{"frontend":"page"}"#), divide(2, by: 2, sequence: 1))
    _ = peer.takeMessages()
    for _ in 1...2 {
      peer.send(divide(3, by: 0, sequence: 2))
      #expect(
        peer.takeMessages() == ["{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":\(refused)}"])
    }
    peer.send(divide(4, by: 5, sequence: 3))
    #expect(peer.takeMessages().count == 1)
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
