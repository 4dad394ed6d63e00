// SPDX-License-Identifier: Apache-2.0

import Logging

/// Passes each line of a log on, with its level.
struct LogLines: LogHandler {
  private let write: @Sendable (String) -> Void
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { write("\(event.level): \(event.message)") }
}
