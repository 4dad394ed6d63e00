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
  private let gate: StandardErrorGate
  /// The level of this logger alone; nil: that of the settings.
  private var ownLevel: Logger.Level?

  /// Creates a handler.
  ///
  /// - Parameters:
  ///   - label: The label of the logger.
  ///   - settings: The level and the format, which may change.
  ///   - json: Writes lines of JSON.
  ///   - gate: Decides which lines are written.
  init(
    _ label: String, _ settings: LogSettings, json: JSONLog = JSONLog(),
    gate: StandardErrorGate = .shared
  ) {
    (self.label, self.settings, self.json, self.gate) = (label, settings, json, gate)
    text = StreamLogHandler.standardError(label: label)
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
    guard let leftOut = gate.pass() else { return }
    if leftOut > 0 {
      var note = event
      (note.level, note.metadata) = (.warning, nil)
      note.message = "\(leftOut) lines were left out, because nothing read the log"
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
