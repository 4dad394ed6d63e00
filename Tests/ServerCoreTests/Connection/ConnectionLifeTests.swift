// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ServerCore

/// The state machine alone, without a socket or a session.
@Suite("Connection life cycle")
struct ConnectionLifeTests {
  private typealias Event = ConnectionLife.Event

  /// Returns the phase after these events, as text, and the actions.
  private static func play(_ events: [Event]) -> (String, [ConnectionLife.Action]) {
    var life = ConnectionLife.open
    let actions = events.compactMap { life.take($0) }
    return (life.text, actions)
  }

  @Test("given a phase, each event leads to the expected phase and action")
  func transitions() {
    let draining = "draining open"
    let rows: [(given: [Event], when: Event, then: String, action: ConnectionLife.Action?)] = [
      ([], .unreadable, "draining open, discards", .expireLater),
      ([], .linger, "lingering open", nil),
      ([], .finish, draining, .expireLater),
      ([], .inputEnded, "draining ended", .expireLater),
      ([], .timeIsUp, "draining open, time is up", nil),
      ([], .refused, "draining open, time is up, refused", nil),
      ([], .done, "closing open", .endOutput),
      ([], .cut, "closed", .close),
      ([], .outputEnded, "open", nil),
      ([], .gone, "closed", nil),

      ([.linger], .linger, "lingering open", nil),
      ([.linger], .unreadable, "lingering open", nil),
      ([.linger], .inputEnded, "lingering ended", nil),
      ([.linger], .finish, draining, .expireLater),
      ([.linger, .inputEnded], .finish, "draining ended", .expireLater),
      ([.linger], .timeIsUp, "draining open, time is up", nil),
      ([.linger, .inputEnded], .refused, "draining ended, time is up, refused", nil),
      ([.linger, .inputEnded], .done, "closing ended", .endOutput),
      ([.linger], .cut, "closed", .close),
      ([.linger], .outputEnded, "lingering open", nil),
      ([.linger], .gone, "closed", nil),

      ([.unreadable], .unreadable, "draining open, discards", nil),
      ([.unreadable], .inputEnded, "draining ended", nil),
      ([.unreadable], .refused, "draining open, time is up, refused", nil),
      ([.finish], .finish, draining, nil),
      ([.finish], .linger, draining, nil),
      ([.finish], .inputEnded, "draining ended", nil),
      ([.finish], .timeIsUp, "draining open, time is up", nil),
      ([.finish], .done, "closing open", .endOutput),
      ([.inputEnded], .done, "closing ended", .endOutput),
      ([.finish], .outputEnded, draining, nil),
      ([.finish], .cut, "closed", .close),
      ([.finish], .gone, "closed", nil),

      ([.done], .done, "closing open", nil),
      ([.done], .finish, "closing open", nil),
      ([.done], .timeIsUp, "closing open", nil),
      ([.done], .refused, "closing open", nil),
      ([.done], .inputEnded, "closing ended", nil),
      ([.done], .outputEnded, "closing open, output ended", .awaitInputEnd),
      ([.done, .inputEnded], .outputEnded, "closed", .close),
      ([.done, .inputEnded], .inputEnded, "closing ended", nil),
      ([.inputEnded, .done], .outputEnded, "closed", .close),
      ([.done, .outputEnded], .inputEnded, "closed", .close),
      ([.done, .outputEnded], .outputEnded, "closing open, output ended", nil),
      ([.done], .cut, "closed", .close),
      ([.done], .gone, "closed", nil),
    ]
    for row in rows {
      let before = Self.play(row.given).1.count
      let (then, actions) = Self.play(row.given + [row.when])
      #expect(then == row.then, "\(row.given) then \(row.when)")
      #expect(Array(actions[before...]) == (row.action.map { [$0] } ?? []), "\(row)")
    }
  }

  @Test("a closed connection ignores all events")
  func closed() {
    let all: [Event] = [
      .unreadable, .linger, .finish, .inputEnded, .timeIsUp, .refused, .done, .cut, .outputEnded,
      .gone,
    ]
    for end in [Event.cut, .gone] {
      let (then, actions) = Self.play([end] + all)
      #expect(then == "closed")
      #expect(actions == (end == .cut ? [.close] : []))
    }
  }

  @Test("the read gate waits for its conditions one after the other, and decides to read once")
  func reading() {
    let start = ContinuousClock.now
    var gate = ReadGate(bytesPerSecond: 100, at: start)
    var seen: [ReadGate.Decision] = []
    func decide(isWanted: Bool = true, mustQueue: Bool = false) {
      seen.append(gate.decide(isWanted: isWanted, mustQueue: mustQueue))
    }
    decide()
    gate.ask()
    decide(isWanted: false)
    decide(mustQueue: true)
    decide()
    gate.wasQueued()
    #expect(seen == [.wait, .wait, .queue, .wait])
    // More than the rate allows in a second.
    var waits = [gate.count(150, at: start), gate.count(50, at: start)]
    decide()
    waits.append(gate.paceIsOver(at: start + .milliseconds(500)))
    waits.append(gate.paceIsOver(at: start + .seconds(1)))
    #expect(waits == [.milliseconds(500), nil, .milliseconds(500), nil])
    var isHeldBack = [gate.isHeldBack]
    decide()
    decide()
    isHeldBack.append(gate.isHeldBack)
    #expect(seen[4...] == [.wait, .read, .wait])
    #expect(isHeldBack == [true, false])
  }
}

extension ConnectionLife {
  fileprivate var text: String {
    switch self {
    case .open: "open"
    case .lingering(let input): "lingering \(input)"
    case .draining(let draining):
      "draining \(draining.input)" + (draining.discardsInput ? ", discards" : "")
        + (draining.isTimeUp ? ", time is up" : "") + (draining.isRefused ? ", refused" : "")
    case .closing(let closing):
      "closing \(closing.input)" + (closing.isOutputEnded ? ", output ended" : "")
    case .closed: "closed"
    }
  }
}
