// SPDX-License-Identifier: Apache-2.0

import BuiltinStores
import Testing

@testable import StatewireServer

@Suite("Named time zones")
struct NamedTimeZoneTests {
  /// Returns the text of a balance whose response has the current time.
  private func text(_ time: String, in zone: TimeZoneRule) throws -> String {
    let time = try #require(Timestamp(iso8601: time))
    var state = BalanceStore.State()
    state.lastResponse = BalanceResponse(balance: .zero, date: time)
    state.now = time
    let machine = BalanceStore(service: FixedBalanceService(.failed), zone: zone)
    return machine.view(of: state).infoText
  }

  @Test(
    "a time zone has the right offset at each time",
    arguments: [
      ("UTC", "2021-06-02T11:01:48Z", "11:01:48 AM"),
      ("+02:00", "2021-01-02T11:01:48Z", "1:01:48 PM"),
      ("Europe/Berlin", "2021-06-02T11:01:48Z", "1:01:48 PM"),
      ("Europe/Berlin", "2021-01-02T11:01:48Z", "12:01:48 PM"),
      ("Europe/Berlin", "2021-03-28T00:59:59Z", "1:59:59 AM"),
      ("Europe/Berlin", "2021-03-28T01:00:00Z", "3:00:00 AM"),
      ("Europe/Berlin", "2021-10-31T00:59:59Z", "2:59:59 AM"),
      ("Europe/Berlin", "2021-10-31T01:00:00Z", "2:00:00 AM"),
      ("America/New_York", "2021-06-02T11:01:48Z", "7:01:48 AM"),
      ("US/Eastern", "2021-06-02T11:01:48Z", "7:01:48 AM"),
      ("Asia/Kolkata", "2021-06-02T11:01:48Z", "4:31:48 PM"),
      ("Etc/UTC", "2021-06-02T11:01:48Z", "11:01:48 AM"),
    ])
  func offsets(_ name: String, _ time: String, _ expected: String) throws {
    let zone = try #require(TimeZoneRule(named: name))
    #expect(try text(time, in: zone) == "Last update: Today, \(expected).")
  }

  @Test(
    "other names are not time zones",
    arguments: [
      "", "Mars", "europe/berlin", "Europe/Nowhere", "UTC+2", "GMT+5", "/etc/passwd",
      "../Europe/Berlin", "+2", "Europe/Berlin ",
    ])
  func junk(_ name: String) { #expect(TimeZoneRule(named: name) == nil) }
}
