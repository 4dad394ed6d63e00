// SPDX-License-Identifier: Apache-2.0

internal import ProcessStores
internal import StatewireJSON

/// The settings of a store program in a configuration file, below `stores: NAME:`.
struct ProgramSettings: Sendable {
  /// A setting with its value.
  struct Member: Sendable {
    let setting: ProgramSetting
    let value: FileValue
    let source: SettingSource
  }

  private(set) var members: [Member] = []
  /// The line of the name of the store.
  var line = 1
  /// True if there is a command, even one that cannot be used.
  private(set) var hasCommand = false

  /// Adds a setting; returns a message if its value cannot be used.
  mutating func add(_ entry: FileValue.Entry, of name: String, in path: String) -> String? {
    let place = "\(path):\(entry.line): stores.\(name).\(entry.key)"
    guard let setting = ProgramSetting.all.first(where: { $0.key == entry.key }) else {
      let keys = ProgramSetting.all.map(\.key)
      let nearest = NameSuggestion.nearest(to: entry.key, in: keys)
      return "\(place): unknown key; "
        + (nearest.map { "did you mean '\($0)'?" } ?? "allowed: \(keys.joined(separator: ", "))")
    }
    if setting.key == ProgramSetting.command { hasCommand = true }
    var kind = ProgramKind(name, ProgramCommand(words: []))
    guard setting.read(entry.value, &kind) else {
      let shown =
        setting.isSecret ? "the value" : entry.value.text?.quoted(upTo: 64) ?? "the value"
      return "\(place): \(shown) cannot be used; allowed: \(setting.allowed)"
    }
    members.append(
      Member(
        setting: setting, value: entry.value, source: .file(path: path, line: entry.line)))
    return nil
  }

  /// Changes a kind, except for its command, which options may have replaced.
  func apply(to kind: inout ProgramKind) {
    for member in members where member.setting.key != ProgramSetting.command {
      _ = member.setting.read(member.value, &kind)
    }
  }

  /// The command as one text; nil without one.
  var command: (text: String, source: SettingSource)? {
    guard let member = members.first(where: { $0.setting.key == ProgramSetting.command }) else {
      return nil
    }
    if let text = member.value.text { return (text, member.source) }
    return (ProgramSetting.text(of: member.value.texts ?? []), member.source)
  }
}

/// A setting of a store program.
struct ProgramSetting: Sendable {
  static let command = "command"

  let key: String
  /// The property of `ProgramCommand`, or of `ProgramKind`.
  let property: String
  /// The accepted values, for a message.
  let allowed: String
  /// True if the value is never shown.
  var isSecret = false
  /// True if a running server applies a changed value at SIGHUP.
  var isReloaded: Bool { key != "processes" && key != "shared" }
  /// Reads a value into a kind; returns false if the value cannot be used.
  let read: @Sendable (FileValue, inout ProgramKind) -> Bool
  /// Returns the value of a kind as text; nil if it has none.
  let text: @Sendable (ProgramKind) -> String?

  /// All settings, in the order of `config check`.
  static let all: [ProgramSetting] = [
    ProgramSetting(
      key: command, property: "words",
      allowed: "a command whose words are divided as by a shell, or a list of words",
      read: { value, kind in
        if let text = value.text {
          guard let parsed = try? ProgramCommand(parsing: text) else { return false }
          kind.command.words = parsed.words
          return true
        }
        guard let words = value.texts, !words.isEmpty else { return false }
        kind.command.words = words
        return true
      }, text: { text(of: $0.command.words) }),
    ProgramSetting(
      key: "environment", property: "environment",
      allowed: "a mapping from names of variables to texts", isSecret: true,
      read: { value, kind in
        guard let entries = value.entries else { return false }
        var variables: [String: String] = [:]
        for entry in entries {
          guard case .text(let text) = entry.value.content, !entry.key.isEmpty,
            !entry.key.contains("="), !(entry.key + (text ?? "")).utf8.contains(0)
          else { return false }
          variables[entry.key] = text ?? ""
        }
        kind.command.environment = variables
        return true
      },
      text: { kind in
        let names = kind.command.environment.keys.sorted()
        return names.isEmpty ? nil : names.joined(separator: ", ")
      }),
    ProgramSetting(
      key: "folder", property: "folder", allowed: "the path of a folder",
      read: { value, kind in
        guard let folder = value.text else { return false }
        kind.command.folder = folder
        return true
      }, text: { $0.command.folder }),
    ProgramSetting(
      key: "time-limit", property: "timeLimit", allowed: "seconds from 0.001 to 1000000",
      read: { value, kind in
        guard let seconds = value.text.flatMap(Double.init), (0.001...1e6).contains(seconds) else {
          return false
        }
        kind.command.timeLimit = .seconds(seconds)
        return true
      }, text: { "\($0.command.timeLimit / .seconds(1))" }),
    .number("memory-bytes", property: "memoryBytes", 0...(1 << 50), \.command.memoryBytes),
    .number("process-limit", property: "processes", 0...(1 << 22), \.command.processes),
    ProgramSetting(
      key: "watch", property: "isWatched", allowed: "true or false",
      read: { value, kind in
        guard let text = value.text, let isWatched = Bool(text) else { return false }
        kind.command.isWatched = isWatched
        return true
      }, text: { "\($0.command.isWatched)" }),
    .number("processes", property: "processes", 1...256, \.processes),
    ProgramSetting(
      key: "shared", property: "scope", allowed: "session, everyone or identity",
      read: { value, kind in
        switch value.text {
        case "session": kind.scope = .session
        case "everyone": kind.scope = .shared()
        case "identity": kind.scope = .shared(by: .identity)
        default: return false
        }
        return true
      },
      text: { kind in
        switch kind.scope {
        case .session: "session"
        case .shared(.everyone, _): "everyone"
        case .shared(.identity, _): "identity"
        }
      }),
  ]

  /// Returns words as one text, with quotation marks as for a shell where they are needed.
  static func text(of words: [String]) -> String {
    words.map { word in
      let isPlain = word.utf8.allSatisfy { byte in
        byte >= 0x80 || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte)
          || (0x61...0x7A).contains(byte) || "-_./:+@=%,".utf8.contains(byte)
      }
      return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: #"'\''"#) + "'"
    }.joined(separator: " ")
  }

  private static func number(
    _ key: String, property: String, _ range: ClosedRange<Int>,
    _ place: any WritableKeyPath<ProgramKind, Int> & Sendable
  ) -> ProgramSetting {
    ProgramSetting(
      key: key, property: property,
      allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)",
      read: { value, kind in
        guard let number = value.text.flatMap({ Int($0) }), range.contains(number) else {
          return false
        }
        kind[keyPath: place] = number
        return true
      }, text: { "\($0[keyPath: place])" })
  }
}
