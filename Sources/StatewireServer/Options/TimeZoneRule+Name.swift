// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import Foundation

extension TimeZoneRule {
  /// Finds a time zone by its name: a fixed offset ("UTC", "+02:00") or a zone of the IANA database
  /// ("Europe/Berlin"); nil if there is no such zone.
  init?(named name: String) {
    if let fixed = TimeZoneRule(fixed: name) {
      self = fixed
      return
    }
    // Foundation accepts other names ("UTC+2"), but then its zone has a different identifier.
    guard let zone = TimeZone(identifier: name), zone.identifier == name else { return nil }
    self.init { time in
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.secondsSinceEpoch)))
    }
  }
}
