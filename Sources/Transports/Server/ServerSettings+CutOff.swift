// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import ServerCore

extension ServerSettings {
  /// Logs that connections end before everything was sent.
  func logCutOff(connections count: Int) {
    logger.warning(
      "connections are cut off before everything was sent; clients must read all the time",
      metadata: ["connections": "\(count)"])
  }
}
