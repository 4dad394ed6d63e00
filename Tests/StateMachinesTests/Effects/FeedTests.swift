// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import StateMachines

@Suite("Feeds with one id")
struct FeedTests {
  /// A server that keeps the errors of its store.
  private final class Server: StoreServer {
    var errors: [JSONError] = []
    let needsPatches = false
    func published(_ publication: borrowing Publication) {}
    func happened(_ event: UnsafeRawBufferPointer, for recipients: EventRecipients) {}
    func failed(_ error: JSONError) { errors.append(error) }
  }

  private struct Clock: StateMachine {
    enum Input: Codable, Sendable { case start, keep }
    enum Action: Sendable { case ticked, started }
    struct State: Codable, Sendable { var starts = 0 }
    let initialState = State()
    var initialEffect: Effect<Action> { .several(ticks, ticks) }
    func effect(of input: Input, in state: State) -> Effect<Action> {
      switch input {
      case .start: .several(ticks, .action(.started))
      case .keep: .several(ticks.unlessRunning(), .action(.started))
      }
    }
    func reduce(_ state: inout State, _ action: Action) {
      if action == .started { state.starts += 1 }
    }
    private var ticks: Effect<Action> { .ticks("ticks", every: .seconds(9)) { .ticked } }
  }

  @Test(
    "a second feed does not begin, and the server of the store is notified, also when the store opens"
  )
  func reported() async throws {
    let bench = try await Bench(Clock())
    let (atOpening, atInput, kept) = try await bench.do { _, store in
      let server = Server()
      store.serve(server)
      let atOpening = server.errors
      try store.send(.start)
      let atInput = server.errors
      try store.send(.keep)
      defer { store.close() }
      return (atOpening, atInput, server.errors.count)
    }
    #expect(atOpening.map(\.code) == [.runsAlready])
    #expect(atOpening.first?.message.hasPrefix("a feed with the id \"ticks\" runs already") == true)
    #expect(atInput.count == 2)
    #expect(kept == 2)
    // The other effects of the inputs are performed.
    #expect(await bench.do { $1.state.starts } == 2)
    await bench.end()
  }
}
