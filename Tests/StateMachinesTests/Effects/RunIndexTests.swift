// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing

@testable import StateMachines

/// Tests of the index over the runs of one store, of which there may be thousands.
@Suite("Run index")
struct RunIndexTests {
  private struct Expected {
    let number: RunNumber
    let id: EffectID?
    let window: EffectID?
    let inputID: InputID
    let isFeed: Bool
    let isExchange: Bool
  }

  @Test("the index finds runs by id, window and input as a linear search does", arguments: 0..<20)
  func found(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let host = NoHost()
    let runner = EffectRunner<Int>(
      host: host, store: StoreNumber(0), environment: StoreEnvironment())
    // No run begins.
    runner.delayWork { _ in }
    var expected: [Expected] = []
    var inputID: UInt64 = 0
    func id() -> EffectID { EffectID("id \(random.below(12))") }
    func take(_ condition: (Expected) -> Bool) -> [RunNumber] {
      let taken = expected.filter(condition).map(\.number)
      expected.removeAll(where: condition)
      return taken
    }
    for step in 0..<600 {
      let isGrowing = step % 200 < 120
      switch random.below(isGrowing ? 40 : 12) {
      case 0:
        let id = id()
        let feeds = random.below(2) == 0
        #expect(
          runner.cancel(id, feeds: feeds).map(\.number)
            == take { ($0.id == id || $0.window == id) && (feeds || !$0.isFeed) })
      case 1:
        let inputID = InputID(rawValue: UInt64(random.below(Int(inputID) + 1)))
        #expect(
          runner.cancel(inputID).map(\.number)
            == take { $0.inputID == inputID && !$0.isFeed && !$0.isExchange })
      case 2:
        let window = id()
        #expect(
          runner.run(window: window)?.number == expected.first { $0.window == window }?.number)
      case 3 where step % 50 == 0:
        #expect(runner.cancelAll().map(\.number) == take { _ in true })
      case 3...(isGrowing ? 5 : 11):
        guard !expected.isEmpty else { continue }
        let one = expected.remove(at: random.below(expected.count))
        #expect(runner.ended(one.number)?.number == one.number)
      default:
        if random.below(3) == 0 { inputID += 1 }
        let one = (
          id: random.below(4) == 0 ? nil : id(), window: random.below(4) == 0 ? id() : nil,
          isFeed: random.below(6) == 0, isExchange: random.below(4) == 0
        )
        let exchange: Work<Int>.Exchange = { _ in }
        let run = runner.begin(
          Work(
            name: "work", id: one.id, isFeed: one.isFeed, exchange: one.isExchange ? exchange : nil
          ) {
            _ in
          },
          for: InputID(rawValue: inputID), window: one.window)
        let isThere =
          one.isFeed && expected.contains { $0.id != nil && $0.id == one.id && $0.isFeed }
        #expect((run == nil) == isThere)
        guard let run else { continue }
        expected.append(
          Expected(
            number: run.number, id: one.id, window: one.window, inputID: run.inputID,
            isFeed: one.isFeed, isExchange: one.isExchange))
      }
      #expect(runner.running.map(\.number) == expected.filter { !$0.isFeed }.map(\.number))
    }
    withExtendedLifetime(host) {}
  }
}
