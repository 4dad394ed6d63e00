// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StateMachines

/// The format of the log.
enum LogFormat: String, CaseIterable, Sendable {
  /// Lines for people.
  case text
  /// One JSON object in each line.
  case json
}

/// The level and the format of the log, which a running server can change.
final class LogSettings: Sendable {
  private let values: Lock<(level: Logger.Level, format: LogFormat)>

  init(level: Logger.Level, format: LogFormat) { values = Lock((level, format)) }

  var level: Logger.Level { values.withLock { $0.level } }
  var format: LogFormat { values.withLock { $0.format } }

  func change(level: Logger.Level, format: LogFormat) { values.withLock { $0 = (level, format) } }
}
