// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StatewireJSON

/// A log handler that writes each event as one printable line, even if names of clients, sources
/// and files contain control characters.
struct PrintableLogHandler: LogHandler {
  private var handler: StreamLogHandler

  init(_ handler: StreamLogHandler) { self.handler = handler }

  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { handler.metadataProvider }
    set { handler.metadataProvider = newValue }
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\(event.message.description.printable)"
    event.metadata = event.metadata?.mapValues { "\("\($0)".printable)" }
    handler.log(event: event)
  }
}
