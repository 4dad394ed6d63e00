// SPDX-License-Identifier: Apache-2.0

extension Text {
  /// The texts of the balance. The view state also contains the facts, for frontends with their own
  /// texts.
  enum Balance {
    static let title = "Your Balance"
    static let noBalance = "--"
    static let failed = "Failed to update."
    static let refreshing = "Loading..."
    static func lastUpdate(_ time: String) -> String {
      String(parts: "Last update: ", time, ".")
    }
  }
}
