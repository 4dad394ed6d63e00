// SPDX-License-Identifier: Apache-2.0

internal import StatewireJSON

/// The source of the value of an option.
enum SettingSource: Sendable, Hashable {
  case commandLine
  case environment(variable: String)
  case file(path: String, line: Int)

  /// The source for people.
  var description: String {
    switch self {
    case .commandLine: "option"
    case .environment(let variable): "environment \(variable)"
    case .file(let path, let line): "file \(path):\(line)"
    }
  }

  /// The line in a file; nil outside of a file.
  var line: Int? { if case .file(_, let line) = self { line } else { nil } }

  /// The start of a message about the value of an option.
  func place(of option: ServeOption) -> String {
    switch self {
    case .commandLine: "--\(option.name)"
    case .environment(let variable): variable
    case .file(let path, let line): "\(path):\(line): \(option.key)"
    }
  }
}

/// The reason why a value in the environment or in a file cannot be used.
struct SettingFault: Sendable {
  /// The line in the file; nil outside of a file.
  let line: Int?
  /// The place, the reason, and what is allowed.
  let message: String
}

/// The values of an option.
struct OptionSetting: Sendable {
  /// A value, as on the command line; a flag has "true" or "false".
  struct Value: Sendable {
    let text: String
    let source: SettingSource
  }

  let option: ServeOption
  var values: [Value]
  /// The source of all values, or of the last one where sources were merged.
  var source: SettingSource

  init(_ option: ServeOption, _ texts: [String], _ source: SettingSource) {
    (self.option, self.source) = (option, source)
    values = texts.map { Value(text: $0, source: source) }
  }

  /// Adds the values of a source of higher precedence: they replace these, or, in a mapping, those
  /// with the same name.
  mutating func override(by other: OptionSetting) {
    if option.mappingKey == nil {
      values = other.values
    } else {
      let names = Set(other.values.map { Self.name(in: $0.text) })
      values.removeAll { names.contains(Self.name(in: $0.text)) }
      values += other.values
    }
    source = other.source
  }

  /// Reads the values into options; returns a fault for each one that cannot be used.
  func read(into options: inout ServeOptions) -> [SettingFault] {
    var faults: [SettingFault] = []
    for value in values {
      let word: String
      if option.kind == .flag {
        guard value.text != "false" else { continue }
        guard value.text == "true" else {
          faults.append(self.fault(.malformed, value))
          continue
        }
        word = ""
      } else {
        word = value.text
      }
      if let fault = option.read(&options, word) { faults.append(self.fault(fault, value)) }
    }
    return faults
  }

  private func fault(_ fault: ServeOption.Fault, _ value: Value) -> SettingFault {
    let reason: String
    if case .unusable(let given) = fault {
      reason = given
    } else {
      let shown = option.isSecret ? "the value" : value.text.quoted(upTo: 64)
      reason = "\(shown) cannot be used; allowed: \(option.allowed())"
    }
    return SettingFault(
      line: value.source.line, message: "\(value.source.place(of: option)): \(reason)")
  }

  /// Returns the name in a value `NAME=VALUE`.
  static func name(in text: String) -> Substring { text.prefix { $0 != "=" } }
}
