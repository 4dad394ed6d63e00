// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sessions

@Suite("Client table")
struct ClientTableTests {
  @Test("the table never uses an id for two clients")
  func ids() {
    let table = ClientTable()
    let (first, second) = (Listener(), Listener())
    let old = table.makeID()
    table.add(first, as: old)
    #expect(table[old] === first && table.count == 1)
    table.remove(old)
    #expect(table[old] == nil && table.count == 0)
    let new = table.makeID()
    table.add(second, as: new)
    table.remove(old)
    #expect(table[old] == nil && table[new] === second && old != new)
    #expect(table.count == 1)
  }

  @Test("the table reuses the place of a removed client, with another generation")
  func generations() {
    let table = ClientTable()
    let last = table.makeID()
    table.remove(last)
    for _ in 0..<3 {
      let id = table.makeID()
      #expect(id.index == last.index && id.generation > last.generation)
      table.remove(id)
    }
  }
}
