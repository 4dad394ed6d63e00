// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import StatewireJSON

/// The log handler of a program: it writes each event to standard error as one printable line, even if
/// names of clients, sources and files contain control characters. Lines are left out while no process reads
/// them.
struct StandardErrorLogHandler: LogHandler {
  private let label: String
  private let settings: LogSettings
  private var text: StreamLogHandler
  private let json: JSONLog
  private let output: StandardErrorOutput
  /// The level of this logger alone; nil: that of the settings.
  private var ownLevel: Logger.Level?

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - label: The label of the logger.
  ///   - settings: The level and the format, which may change.
  ///   - output: The output of both formats.
  ///   - json: Writes lines of JSON; nil: to the output.
  init(
    _ label: String, _ settings: LogSettings, output: StandardErrorOutput = .shared,
    json: JSONLog? = nil
  ) {
    (self.label, self.settings, self.output) = (label, settings, output)
    self.json = json ?? JSONLog(write: { output.write($0) })
    text = StreamLogHandler(label: label, stream: StandardErrorStream(output: output))
  }

  var logLevel: Logger.Level {
    get { ownLevel ?? settings.level }
    set { ownLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { text.metadata }
    set { text.metadata = newValue }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { text.metadataProvider }
    set { text.metadataProvider = newValue }
  }

  subscript(metadataKey key: String) -> Logger.MetadataValue? {
    get { text[metadataKey: key] }
    set { text[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    let leftOut = output.takeLeftOut()
    if leftOut > 0, logLevel <= .warning {
      var note = event
      (note.level, note.metadata) = (.warning, nil)
      note.message = "dropped \(leftOut) log lines: standard error was not read"
      write(note)
    }
    write(event)
  }

  private func write(_ event: LogEvent) {
    switch settings.format {
    case .text:
      var event = event
      event.message = "\(event.message.description.printable)"
      event.metadata = event.metadata?.mapValues { "\("\($0)".printable)" }
      text.log(event: event)
    case .json:
      var members = text.metadata
      if let provided = text.metadataProvider?.get() { members.merge(provided) { $1 } }
      if let own = event.metadata { members.merge(own) { $1 } }
      json.log(event, label, members)
    }
  }
}
