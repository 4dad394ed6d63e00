// SPDX-License-Identifier: Apache-2.0

import StateMachines
import StateMachinesTesting
import Testing

@Suite("Events for some viewers")
struct CardsTests {
  @Test("a player learns the card that it has drawn, and no other viewer does")
  func recipients() async throws {
    let (ann, bob) = (Viewer(name: "ann"), Viewer(name: "bob"))
    let store = TestStore(Cards())
    try await store.send(.drawTapped, from: ann) { ($0.pile, $0.last) = (["king"], "ace") }
    let event = Cards.Event.drawn(card: "ace", player: "ann")
    try await store.receive(event: event)
    #expect(await store.recipients(of: event).contains(ann))
    #expect(await !store.recipients(of: event).contains(bob))
    #expect(await store.recipients(of: .pileEmpty).contains(bob))
    try await store.finish()
  }
}
