// SPDX-License-Identifier: Apache-2.0

internal import ServerCore
internal import StatewireJSON

extension RecordedEvent {
  /// Returns the event as JSON, without secrets; nil for one that is not shown.
  ///
  /// Members: `n` number, `at` microseconds on the clock of the session, `store`, `type`, and those
  /// of the type.
  func value(_ secrets: SecretMembers) -> JSONValue? {
    var value: JSONObject = [
      "n": JSONValue(number), "at": JSONValue(microseconds: time),
      "store": .string(store),
    ]
    func add(_ name: String, _ text: [UInt8]?, _ redact: (JSONValue) -> JSONValue) {
      guard let text, let json = try? JSONValue(parsing: text, limits: .init(maximumDepth: 512))
      else { return }
      value[name] = redact(json)
    }
    switch content {
    case .opened(let configuration, let revision):
      value["type"] = "opened"
      value["kind"] = .string(kind)
      value["revision"] = JSONValue(revision)
      add("config", configuration) { secrets.redacted(sent: $0) }
    case .closed: value["type"] = "closed"
    case .input(let record, let text, let viewer):
      value.add(record)
      value["type"] = "input"
      value["name"] = record.input.map { .string($0) } ?? nil
      value["frontend"] = viewer?.name.map { .string($0) }
      add("input", text) { secrets.redacted(sent: $0) }
      // All inputs of a program have one type in Swift.
      if let name = value["input"]?["type"]?.string { value["name"] = .string(name) }
    case .refused(let text, let viewer):
      value["type"] = "refused"
      value["frontend"] = viewer?.name.map { .string($0) }
      add("input", text) { secrets.redacted(sent: $0) }
    case .traced(let record):
      value.add(record)
      value["type"] = .string(record.type)
    case .updated(let base, let revision, let patch, _):
      value["type"] = "update"
      value["base"] = JSONValue(base)
      value["revision"] = JSONValue(revision)
      add("patch", patch) { secrets.redacted(patch: $0) }
    case .happened(let event):
      value["type"] = "event"
      add("event", event) { secrets.redacted($0) }
    case .state: return nil
    }
    return .object(value)
  }
}

extension JSONObject {
  /// Adds the members of a record of a trace.
  fileprivate mutating func add(_ record: TraceRecord) {
    self["stage"] = .string(record.operation.stage.rawValue)
    self["name"] = .string(record.action ?? record.operation.name)
    self["operation"] = .string(record.operation.name)
    self["number"] = .number(JSONNumber(Int64(record.operation.number)))
    self["revision"] = JSONValue(record.revision)
    if record.failed { self["failed"] = true }
  }
}

extension TraceRecord {
  /// The type of the event for the page.
  fileprivate var type: String {
    switch moment {
    case .receiveSubscription, .receiveRequest: "begin"
    case .receiveOutput: operation.stage == .action ? "action" : "output"
    case .receiveCompletion: "end"
    case .receiveCancel: "cancel"
    }
  }
}
