// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import BuiltinStoresProtocol
import StateMachines
import StateMachinesTesting
import TestSupport
import Testing

@Suite("Balance dates", .timeLimit(.minutes(15)))
struct BalanceDateTests {
  private static func time(_ text: String) throws -> Timestamp {
    try #require(Timestamp(iso8601: text))
  }

  /// Returns the text that a balance shows for the time of a response.
  private func infoText(
    _ date: String, now: String, _ zone: TimeZoneRule
  ) throws -> String {
    var state = BalanceStore.State()
    state.lastResponse = BalanceResponse(balance: .zero, date: try Self.time(date))
    state.now = try Self.time(now)
    return BalanceStore(service: ScriptedBalanceService.silent, zone: zone).view(of: state).infoText
  }

  @Test(
    "a time is shown relative to the current day, in the time zone",
    arguments: [
      ("2021-06-02T11:01:48Z", "2021-06-02T11:01:48Z", "UTC", "Today, 11:01:48 AM"),
      ("2021-06-02T11:01:48Z", "2021-06-02T23:59:59Z", "UTC", "Today, 11:01:48 AM"),
      ("2021-06-02T11:01:48Z", "2021-06-03T00:00:00Z", "UTC", "Yesterday, 11:01:48 AM"),
      ("2021-06-02T11:01:48Z", "2021-06-03T23:59:59Z", "UTC", "Yesterday, 11:01:48 AM"),
      ("2021-06-02T11:01:48Z", "2021-06-04T00:00:00Z", "UTC", "6/2/21, 11:01:48 AM"),
      ("2021-06-02T11:01:48Z", "2022-06-02T11:01:48Z", "UTC", "6/2/21, 11:01:48 AM"),
      ("2021-06-02T11:01:48Z", "2021-06-01T23:59:59Z", "UTC", "6/2/21, 11:01:48 AM"),
      ("2020-12-31T23:59:59Z", "2021-01-01T00:00:00Z", "UTC", "Yesterday, 11:59:59 PM"),
      ("2021-06-02T00:00:00Z", "2021-06-02T11:01:48Z", "UTC", "Today, 12:00:00 AM"),
      ("2021-06-02T00:59:09Z", "2021-06-02T11:01:48Z", "UTC", "Today, 12:59:09 AM"),
      ("2021-06-02T01:00:00Z", "2021-06-02T11:01:48Z", "UTC", "Today, 1:00:00 AM"),
      ("2021-06-02T12:00:00Z", "2021-06-02T13:01:48Z", "UTC", "Today, 12:00:00 PM"),
      ("2021-06-02T13:05:07Z", "2021-06-02T13:05:07Z", "UTC", "Today, 1:05:07 PM"),
      ("2005-11-22T13:05:07Z", "2021-06-02T13:05:07Z", "UTC", "11/22/05, 1:05:07 PM"),
      ("2000-01-01T13:05:07Z", "2021-06-02T13:05:07Z", "UTC", "1/1/00, 1:05:07 PM"),
      ("1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z", "UTC", "Yesterday, 11:00:00 PM"),
      ("2021-06-02T11:01:48Z", "2021-06-02T11:01:48Z", "+02:00", "Today, 1:01:48 PM"),
      ("2021-06-02T11:01:48Z", "2021-06-02T11:01:48Z", "-03:30", "Today, 7:31:48 AM"),
      ("2021-06-02T22:30:00Z", "2021-06-02T21:00:00Z", "+02:00", "6/3/21, 12:30:00 AM"),
      ("2021-06-02T21:30:00Z", "2021-06-02T22:00:00Z", "+02:00", "Yesterday, 11:30:00 PM"),
      ("2021-06-02T02:00:00Z", "2021-06-02T11:00:00Z", "-08:00", "Yesterday, 6:00:00 PM"),
      // The local year has no representation as a time.
      ("0000-01-01T00:00:00Z", "2021-06-02T11:00:00Z", "-05:00", "12/31/01, 7:00:00 PM"),
      ("9999-12-31T23:00:00Z", "2021-06-02T11:00:00Z", "+02:00", "1/1/00, 1:00:00 AM"),
    ])
  func relative(_ date: String, _ now: String, _ zone: String, _ expected: String) throws {
    let zone = try #require(TimeZoneRule(fixed: zone))
    #expect(try infoText(date, now: now, zone) == "Last update: \(expected).")
  }

  @Test(
    "a text that is not a fixed offset is rejected",
    arguments: [
      "", "utc", "Z", "+2", "+0200", "02:00", "+24:00", "+02:60", "+2:00", "Europe/Berlin",
      "UTC+2", "+02:00 ", "±02:00", "+-2:00",
    ])
  func junk(_ text: String) { #expect(TimeZoneRule(fixed: text) == nil) }

  // MARK: Midnight

  @Test(
    "at midnight of the time zone the text changes",
    arguments: [
      ("UTC", "2021-06-03T00:00:00Z", "11:01:48 AM"),
      ("+02:00", "2021-06-02T22:00:00Z", "1:01:48 PM"),
      ("-03:30", "2021-06-03T03:30:00Z", "7:31:48 AM"),
      ("+12:45", "2021-06-02T11:15:00Z", "11:46:48 PM"),
    ])
  func midnight(_ zone: String, _ expected: String, _ wall: String) async throws {
    let zone = try #require(TimeZoneRule(fixed: zone))
    let machine = BalanceStore(service: FixedBalanceService(.response("1.23")), zone: zone)
    let store = TestStore(machine, clock: ManualClock(start: BalanceResult.time))
    let start = Timestamp(sinceEpoch: BalanceResult.time)
    try await store.send(.viewDidAppear) {
      $0.generation = 1
      $0.lastResponse = BalanceResponse("1.23")
      $0.now = start
    }
    #expect(machine.view(of: await store.state).infoText == "Last update: Today, \(wall).")
    let midnight = try Self.time(expected)
    let wait = midnight.sinceEpoch - start.sinceEpoch
    try await store.advance(by: wait - .nanoseconds(1))
    #expect(await store.state.now == start, "no action must come before midnight")
    try await store.advance(by: .nanoseconds(1))
    try await store.receive(.dayBegan(at: midnight)) { $0.now = midnight }
    #expect(machine.view(of: await store.state).infoText == "Last update: Yesterday, \(wall).")
    // A second refresh starts no second feed.
    try await store.send(.viewDidAppear) { $0.generation = 2 }
    try await store.advance(by: .seconds(86_400))
    let next = Timestamp(secondsSinceEpoch: midnight.secondsSinceEpoch + 86_400)
    try await store.receive(.dayBegan(at: next)) { $0.now = next }
    #expect(
      machine.view(of: await store.state).infoText.hasPrefix("Last update: 6/"))
    try await store.finish()
  }

  @Test("a response after midnight is shown relative to the new day")
  func laterResponse() async throws {
    let store = TestStore(
      BalanceStore(
        service: ScriptedBalanceService { context in
          try? await context.sleep(for: .seconds(13 * 3600))
          await context.send(.response("1.23"))
        }), clock: ManualClock(start: BalanceResult.time))
    try await store.send(.viewDidAppear) {
      $0.generation = 1
      $0.isRefreshing = true
      $0.now = Timestamp(sinceEpoch: BalanceResult.time)
    }
    let midnight = try Self.time("2021-06-03T00:00:00Z")
    try await store.advance(by: .seconds(13 * 3600))
    try await store.receive(.dayBegan(at: midnight)) { $0.now = midnight }
    let end = Timestamp(sinceEpoch: BalanceResult.time + .seconds(13 * 3600))
    try await store.receive(.refreshEnded(1, .response("1.23"), at: end)) {
      $0.now = end
      $0.lastResponse = BalanceResponse("1.23")
      $0.isRefreshing = false
    }
    try await store.finish()
  }

  /// Returns a time zone whose offset changes at the given times.
  private func zone(_ first: Int, _ changes: [(String, Int)]) throws -> TimeZoneRule {
    let changes = try changes.map { (try Self.time($0), $1) }
    return TimeZoneRule { time in changes.last { $0.0 <= time }?.1 ?? first }
  }

  @Test("a day with a clock change ends after its actual number of hours")
  func daylightSaving() async throws {
    // Berlin: forward on 2021-03-28 at 01:00 UTC, back on 2021-10-31 at 01:00 UTC.
    let berlin = try zone(
      3600, [("2021-03-28T01:00:00Z", 7200), ("2021-10-31T01:00:00Z", 3600)])
    // Sao Paulo: on 2018-11-04 midnight was skipped; on 2018-02-18 it came twice.
    let saoPaulo = try zone(
      -7200, [("2018-02-18T02:00:00Z", -10_800), ("2018-11-04T03:00:00Z", -7200)])
    // St. John's 1988: at 00:01 the clock went back to the previous day.
    let stJohns = try zone(-9000, [("1988-10-30T02:31:00Z", -12_600)])
    // Samoa crossed the date line and skipped 2011-12-30.
    let apia = try zone(-36_000, [("2011-12-30T10:00:00Z", 50_400)])
    try await check(
      berlin, "2021-03-27T23:30:00Z", ["2021-03-28T22:00:00Z", "2021-03-29T22:00:00Z"])
    try await check(
      berlin, "2021-10-30T22:30:00Z", ["2021-10-31T23:00:00Z", "2021-11-01T23:00:00Z"])
    try await check(berlin, "2021-03-28T00:59:59Z", ["2021-03-28T22:00:00Z"])
    try await check(berlin, "2021-03-28T01:00:00Z", ["2021-03-28T22:00:00Z"])
    try await check(
      saoPaulo, "2018-11-03T23:00:00Z", ["2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"])
    try await check(
      saoPaulo, "2018-02-18T01:30:00Z", ["2018-02-18T03:00:00Z", "2018-02-19T03:00:00Z"])
    try await check(
      stJohns, "1988-10-29T20:00:00Z",
      [
        "1988-10-30T02:30:00Z", "1988-10-30T02:31:00Z", "1988-10-30T03:30:00Z",
        "1988-10-31T03:30:00Z",
      ])
    try await check(apia, "2011-12-30T09:00:00Z", ["2011-12-30T10:00:00Z", "2011-12-31T10:00:00Z"])
  }

  /// Checks the times at which days begin after `start`.
  private func check(
    _ zone: TimeZoneRule, _ start: String, _ expected: [String],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let start = try Self.time(start)
    let expected = try expected.map(Self.time)
    let store = TestStore(
      BalanceStore(service: FixedBalanceService(.failed), zone: zone),
      clock: ManualClock(start: start.sinceEpoch))
    try await store.send(.viewDidAppear) {
      $0.generation = 1
      $0.didFail = true
      $0.now = start
    }
    var now = start
    for next in expected {
      try await store.advance(by: next.sinceEpoch - now.sinceEpoch - .seconds(1))
      try await store.advance(by: .seconds(1))
      do {
        try await store.receive(.dayBegan(at: next)) { $0.now = next }
      } catch {
        Issue.record(error, sourceLocation: sourceLocation)
      }
      now = next
    }
    try await store.finish()
  }

  // MARK: Clock changes

  @Test(
    "the store notices a clock change within a minute",
    arguments: [(-400, "6/2/21"), (-1, "6/2/21"), (1, "Yesterday"), (2, "6/2/21")])
  func setClock(_ days: Int, _ expected: String) async throws {
    let clock = SettableClock()
    let host = BalanceHost(
      BalanceStore(service: FixedBalanceService(.response("1.23"))), clock: clock)
    try await host.send(.viewDidAppear)
    #expect(await host.view?.infoText == "Last update: Today, 11:01:48 AM.")
    await clock.waitForSleeper()
    clock.set(by: .seconds(days * 86_400))
    clock.advance(by: .seconds(60))
    await host.until { $0.infoText == "Last update: \(expected), 11:01:48 AM." }
    // The store sleeps again, for a minute.
    await clock.waitForSleeper()
    #expect(clock.nextWait == .seconds(60))
    // After the clock was corrected, the text is the original one.
    clock.set(by: .seconds(-days * 86_400))
    clock.advance(by: .seconds(60))
    await host.until { $0.infoText == "Last update: Today, 11:01:48 AM." }
    await host.close()
  }

  @Test("the store reads the date when it becomes visible and with each response")
  func readings() async throws {
    let clock = SettableClock()
    let host = BalanceHost(
      BalanceStore(service: FixedBalanceService(.response("1.23"))), clock: clock)
    try await host.send(.viewDidAppear)
    // The computer sleeps past midnight: the date continues, the clock of the sleepers does not.
    for (hide, show) in [
      (BalanceInput.willResignActive, BalanceInput.didBecomeActive), (nil, .refreshButtonWasTapped),
    ] as [(BalanceInput?, BalanceInput)] {
      if let hide { try await host.send(hide) }
      clock.set(by: .seconds(86_400))
      try await host.send(show)
      #expect(await host.view?.infoText == "Last update: Yesterday, 11:01:48 AM.")
      clock.set(by: .seconds(-86_400))
      try await host.send(.refreshButtonWasTapped)
      #expect(await host.view?.infoText == "Last update: Today, 11:01:48 AM.")
    }
    await host.take(.inactive)
    clock.set(by: .seconds(2 * 86_400))
    await host.take(.active)
    #expect(await host.view?.infoText == "Last update: 6/2/21, 11:01:48 AM.")
    await host.close()
  }

  @Test("a response is shown relative to its own day, also if no timer fired during the refresh")
  func midnightDuringRefresh() async throws {
    let clock = SettableClock()
    let host = BalanceHost(
      BalanceStore(
        service: ScriptedBalanceService { context in
          try? await context.sleep(for: .seconds(1))
          let time = context.clock.sinceEpoch
          await context.send(.response("1.23", at: time))
        }), clock: clock)
    try await host.send(.viewDidAppear)
    await eventually("the service responds in a second") { clock.nextWait == .seconds(1) }
    clock.set(by: .seconds(86_400))
    clock.advance(by: .seconds(1))
    await host.until { !$0.isRefreshing }
    #expect(await host.view?.infoText == "Last update: Today, 11:01:49 AM.")
    await host.close()
  }

  @Test("no timer runs before the first refresh, nor while no frontend is active")
  func idle() async throws {
    let clock = ManualClock(start: BalanceResult.time)
    let host = BalanceHost(
      BalanceStore(service: FixedBalanceService(.response("1.23"))), clock: clock)
    await host.take(.inactive)
    await host.take(.active)
    #expect(await host.isIdle, "no text depends on the date before the first refresh")
    try await host.send(.viewDidAppear)
    #expect(await !host.isIdle)
    await host.take(.inactive)
    try await host.send(.refreshButtonWasTapped)
    try await host.send(.didBecomeActive)
    #expect(await host.isIdle, "no frontend is active")
    await host.take(.active)
    #expect(await !host.isIdle)
    await host.close()
  }

  @Test("the text becomes that of the next day while the amount is hidden by an input")
  func midnightWhileHidden() async throws {
    let clock = ManualClock(start: BalanceResult.time)
    let store = TestStore(
      BalanceStore(service: FixedBalanceService(.response("1.23"))), exhaustive: false, clock: clock
    )
    try await store.send(.willResignActive)
    try await store.send(.viewDidAppear)
    #expect(await store.view(for: .server).infoText == "Last update: Today, 11:01:48 AM.")
    let midnight = try Self.time("2021-06-03T00:00:00Z")
    try await store.advance(by: midnight.sinceEpoch - BalanceResult.time)
    try await store.receive(.dayBegan(at: midnight))
    #expect(await store.view(for: .server).infoText == "Last update: Yesterday, 11:01:48 AM.")
    #expect(await store.view(for: .server).lastResponse == nil)
    await store.cancelAll()
  }

  @Test(
    "times outside the calendar neither crash the store nor make it loop",
    arguments: [Duration.seconds(Int64.max), .seconds(Int64.min), .seconds(253_402_300_799)])
  func farTimes(_ start: Duration) async throws {
    let clock = ManualClock(start: start)
    let store = TestStore(
      BalanceStore(
        service: FixedBalanceService(.response("1.23", at: start)),
        zone: TimeZoneRule { $0.secondsSinceEpoch > 0 ? .max : .min }),
      exhaustive: false, clock: clock)
    try await store.send(.viewDidAppear)
    try await store.advance(by: .zero)
    #expect(await store.state.lastResponse != nil)
    let wait = try #require(clock.nextDeadline).offset
    #expect(wait > .zero && wait <= .seconds(86_400))
    try await store.advance(by: .seconds(86_400))
    #expect(clock.sleeperCount == 1)
    try await store.finish()
  }

  @Test("an inconsistent time zone neither crashes the store nor makes it loop")
  func absurdZone() async throws {
    let clock = ManualClock(start: BalanceResult.time)
    let store = TestStore(
      BalanceStore(
        service: FixedBalanceService(.response("1.23")),
        zone: TimeZoneRule { $0.secondsSinceEpoch.isMultiple(of: 2) ? 86_400 : -86_400 }),
      exhaustive: false, clock: clock)
    try await store.send(.viewDidAppear)
    try await store.advance(by: .seconds(120))
    #expect(try #require(clock.nextDeadline) > clock.now)
    await store.cancelAll()
  }
}
