// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import StateMachines

@Suite("Open inputs")
struct InputIDsTests {
  private func id(_ number: UInt64) -> InputID { InputID(rawValue: number) }

  @Test("inputs begin and end in any order")
  func order() {
    var ids = InputIDs(after: 0)
    // Those of an earlier process begin after newer ones.
    for number: UInt64 in [5, 9, 7, 2, 6] { ids.began(id(number)) }
    ids.began(id(7))
    func open() -> [UInt64] {
      var open: [UInt64] = []
      for number: UInt64 in 0...10 where !ids.isSettled(id(number)) { open.append(number) }
      return open
    }
    #expect(open() == [2, 5, 6, 7, 9])
    ids.wait(for: id(6)) { _ in }
    for number: UInt64 in [7, 6, 7, 9, 2] {
      let wasLast = number != 7 || open().count == 4
      let ended = ids.ended(id(number))
      #expect((ended != nil) == wasLast, "\(number)")
      #expect(ended?.waiters.count ?? 0 == (number == 6 ? 1 : 0))
    }
    #expect(open() == [5])
    let unknown = ids.ended(id(6))
    #expect(unknown == nil)
    ids.began(id(6), isExchange: true)
    let exchanges = [5, 6].map { ids.hasExchange(id($0)) }
    let replied = [5, 6].map { ids.isReplied(id($0)) }
    #expect(exchanges == [false, true] && replied == [true, false])
    let replies = ids.exchangeEnded(id(6), changing: nil)
    let isReplied = ids.isReplied(id(6))
    #expect(replies != nil && isReplied && open() == [5, 6])
    let left = ids.closeAll().map(\.inputID.rawValue)
    #expect(left == [5, 6] && open().isEmpty)
  }
}
