// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// A message of the program.
enum ProgramMessage {
  /// The response to a request, with the result as JSON text.
  case result(id: Int, UnsafeRawBufferPointer)
  /// The response to a request that has failed.
  case error(id: Int, ProgramError)
  /// Running work sends an action.
  case action(run: Int, JSONText)
  /// A notification that the server does not know.
  case unknown

  /// Reads a line.
  ///
  /// - Throws: `JSONError` if it is not a message of the protocol.
  init(_ line: UnsafeRawBufferPointer) throws(JSONError) {
    var reader = JSONReader(line)
    var (id, result, error, method): (Int?, Range<Int>?, ProgramError?, String?) = (
      nil, nil, nil, nil
    )
    var params: Range<Int>?
    try reader.beginObject()
    while let key = try reader.nextKey() {
      switch key {
      case "id": id = try reader.readNullIfPresent() ? nil : reader.readInt()
      case "result": result = try reader.skipValue()
      case "error":
        error =
          try reader.readNullIfPresent() ? nil : JSON.decode(ProgramError.self, reading: &reader)
      case "method": method = try reader.readString()
      case "params": params = try reader.skipValue()
      default: _ = try reader.skipValue()
      }
    }
    try reader.finish()
    if let method {
      guard method == "machine/send" else {
        self = .unknown
        return
      }
      self = try Self.send(params.map { UnsafeRawBufferPointer(rebasing: line[$0]) })
    } else if let id, let error {
      self = .error(id: id, error)
    } else if let id, let result {
      self = .result(id: id, UnsafeRawBufferPointer(rebasing: line[result]))
    } else {
      throw JSONError(.missing, "a message needs an id with a result or an error, or a method")
    }
  }
}

extension ProgramMessage {
  /// Reads the parameters of `machine/send`.
  private static func send(_ params: UnsafeRawBufferPointer?) throws(JSONError) -> ProgramMessage {
    var (run, action): (Int?, JSONText?) = (nil, nil)
    if let params {
      var reader = JSONReader(params)
      try reader.beginObject()
      while let key = try reader.nextKey() {
        switch key {
        case "run": run = try reader.readInt()
        case "action": action = try reader.readNullIfPresent() ? nil : reader.read()
        default: _ = try reader.skipValue()
        }
      }
    }
    guard let run, let action else {
      throw JSONError(.missing, "machine/send needs run and action")
    }
    return .action(run: run, action)
  }
}

/// The error of a response.
struct ProgramError: Decodable, Sendable {
  private enum CodingKeys: String, CodingKey {
    case code
    case text = "message"
    case data
  }

  let code: Int
  private let text: String
  private let data: JSONValue?

  /// The first 4,096 characters of the message, for clients, the log and the console.
  var message: String { text.shortened(to: 4_096) }

  /// True if the program refuses an input or a configuration; otherwise it has failed.
  var isRefusal: Bool { code == -32602 }
  /// The path to the value that is refused. An input nests at most 128 levels.
  var path: [String] {
    (data?["path"]?.array ?? []).prefix(128).map { ($0.string ?? "\($0)").shortened(to: 256) }
  }
  /// The name of the limit that is exceeded; nil for none.
  var limit: String? { data?["limit"]?.string?.shortened(to: 256) }
}

/// The result of a request that changes a store.
struct ParsedUpdate {
  /// A new value, or a patch of the last one.
  enum Change {
    case value(SharedValue)
    case patch(JSONPatch)
  }

  var state: Change?
  var view: Change?
  /// The changed views of single viewers; nil for one that is removed.
  var views: [(key: String, change: Change?)] = []
  var events: [ProcessEvent] = []
  var isRedaction = false
  var effects: [EffectDescription] = []

  /// The most effects of an update, and the most events. All of them happen in one turn of the shard.
  static let maximumParts = 1_000

  /// True if it changes nothing.
  var isEmpty: Bool {
    state == nil && view == nil && views.isEmpty && events.isEmpty && effects.isEmpty
      && !isRedaction
  }

  /// Reads an update.
  ///
  /// - Throws: `JSONError` if it is not an update.
  init(_ text: UnsafeRawBufferPointer) throws(JSONError) {
    try JSON.checkNumbers(text)
    var reader = JSONReader(text)
    try reader.beginObject()
    while let key = try reader.nextKey() {
      // An optional member may be null; a state and a view are null then.
      if key != "state", key != "view", try reader.readNullIfPresent() { continue }
      switch key {
      case "state": try Self.set(&state, Self.value(&reader))
      case "patch": try Self.set(&state, Self.patch(&reader))
      case "view": try Self.set(&view, Self.value(&reader))
      case "viewPatch": try Self.set(&view, Self.patch(&reader))
      case "views": try readViews(&reader)
      case "events": try readEvents(&reader)
      case "redacted": isRedaction = try reader.readBool()
      case "effects": try readEffects(&reader)
      default: _ = try reader.skipValue()
      }
    }
  }

  private static func set(_ change: inout Change?, _ new: Change) throws(JSONError) {
    guard change == nil else {
      throw JSONError(.value, "an update has a value or a patch, not both")
    }
    change = new
  }

  private static func value(_ reader: inout JSONReader) throws(JSONError) -> Change {
    .value(try reader.read())
  }

  private static func patch(_ reader: inout JSONReader) throws(JSONError) -> Change {
    .patch(try reader.read())
  }

  private mutating func readViews(_ reader: inout JSONReader) throws(JSONError) {
    try reader.beginObject()
    while let name = try reader.nextKey() {
      let name = name.string
      if try reader.readNullIfPresent() {
        views.append((name, nil))
        continue
      }
      var change: Change?
      try reader.beginObject()
      while let key = try reader.nextKey() {
        switch key {
        case "view": try Self.set(&change, Self.value(&reader))
        case "viewPatch": try Self.set(&change, Self.patch(&reader))
        default: _ = try reader.skipValue()
        }
      }
      guard let change else { throw JSONError(.missing, "an entry of views needs a view") }
      views.append((name, change))
    }
  }

  private mutating func readEffects(_ reader: inout JSONReader) throws(JSONError) {
    effects = []
    try reader.beginArray()
    while try reader.nextElement() {
      let effect = try reader.read(EffectDescription.self)
      if let fault = effect.fault { throw reader.error(.value, fault) }
      if effects.count == Self.maximumParts {
        throw reader.error(.value, "an update has at most \(Self.maximumParts) effects")
      }
      effects.append(effect)
    }
  }

  private mutating func readEvents(_ reader: inout JSONReader) throws(JSONError) {
    try reader.beginArray()
    while try reader.nextElement() {
      var (event, recipients): (JSONText?, [String]?) = (nil, nil)
      try reader.beginObject()
      while let key = try reader.nextKey() {
        switch key {
        case "event": event = try reader.read()
        case "to":
          recipients =
            try reader.readNullIfPresent() ? nil : JSON.decode([String].self, reading: &reader)
        default: _ = try reader.skipValue()
        }
      }
      guard let event else { throw JSONError(.missing, "an entry of events needs an event") }
      if events.count == Self.maximumParts {
        throw reader.error(.value, "an update has at most \(Self.maximumParts) events")
      }
      events.append(ProcessEvent(event: event, recipients: recipients))
    }
  }
}
