// SPDX-License-Identifier: Apache-2.0

extension Text {
  /// What people read on a balance's screen. Its view state has the same as facts, for frontends
  /// with words of their own.
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
