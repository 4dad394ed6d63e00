// SPDX-License-Identifier: Apache-2.0

import StatewireJSON
import Testing

@testable import ProcessStores

@Suite("Requests to a program without responses")
struct OpenRequestsTests {
  private let instance = ProgramInstance(
    StoreSetup(number: 1, name: "main", configuration: .null))

  private func work(_ key: Int) throws -> OpenRequests.Entry {
    let text = Array(#"{"type":"run","name":"save","restart":"again"}"#.utf8)
    let effect = try JSON.decode(EffectDescription.self, from: text)
    let pending = PendingEffect(key: key, effect: effect, since: 0)
    let (_, events) = AsyncStream.makeStream(of: WorkEvent.self)
    return (.job(instance, .work(key, pending, attempt: 1, events)), nil)
  }

  private var opening: OpenRequests.Entry { (.open(instance, now: 0) { _ in }, nil) }

  /// Returns the keys of suspected work.
  private func suspectedWork(_ requests: OpenRequests) -> [Int] {
    requests.suspects.requests.compactMap {
      if case .job(_, .work(_, let pending, _, _)) = $0 { pending.key } else { nil }
    }
  }

  @Test("the work that begins after the last response is suspected, and not the work before it")
  func begun() throws {
    var requests = OpenRequests()
    try requests.add(1, work(7))
    requests.add(2, (.probe, nil))
    _ = requests.remove(2)
    #expect(suspectedWork(requests) == [7])
    #expect(!requests.suspects.areLikely)
    try requests.add(3, work(8))
    #expect(suspectedWork(requests) == [8])
    #expect(requests.suspects.areLikely)
  }

  @Test("no request has an id that the process has invented", arguments: [.min, -1, 0, 2, .max])
  func invented(id: Int) {
    var requests = OpenRequests()
    requests.add(1, opening)
    #expect(requests.remove(id) == nil)
    #expect(requests.remove(1) != nil)
  }

  @Test("an opening that is given up is not a response")
  func openings() throws {
    var requests = OpenRequests()
    try requests.add(1, work(7))
    requests.add(2, opening)
    try requests.add(3, work(8))
    #expect(requests.removeOpenings().count == 1)
    #expect(suspectedWork(requests).sorted() == [7, 8])
    #expect(requests.suspects.areLikely)
    #expect(requests.isIdle)
    #expect(requests.removeAll().count == 2)
  }
}
