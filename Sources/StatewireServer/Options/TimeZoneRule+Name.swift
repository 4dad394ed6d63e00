// SPDX-License-Identifier: Apache-2.0

internal import BuiltinStores
internal import Foundation

extension TimeZoneRule {
  /// The zone that an operator names: a fixed offset ("UTC", "+02:00") or a place in the IANA
  /// database ("Europe/Berlin"); nil if there is none such.
  init?(named name: String) {
    if let fixed = TimeZoneRule(fixed: name) {
      self = fixed
      return
    }
    // Foundation takes more for a zone ("UTC+2"), but gives it another name then.
    guard let zone = TimeZone(identifier: name), zone.identifier == name else { return nil }
    self.init { time in
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time.secondsSinceEpoch)))
    }
  }
}
