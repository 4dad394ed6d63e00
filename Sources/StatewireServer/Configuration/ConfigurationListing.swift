// SPDX-License-Identifier: Apache-2.0

internal import ProcessStores
internal import StatewireJSON

/// The effective configuration as YAML, with the source of each value in a comment.
///
/// Secrets are redacted. A line that is a comment as a whole is an option without a value.
struct ConfigurationListing {
  private static let redacted = #""[redacted]""#

  let effective: EffectiveOptions
  /// The kinds whose machines are programs.
  let programs: [ProgramKind]
  private(set) var text = ""

  init(_ effective: EffectiveOptions, _ options: [ServeOption], _ programs: [ProgramKind]) {
    (self.effective, self.programs) = (effective, programs)
    let settings = Dictionary(
      effective.settings.map { ($0.option.name, $0) }, uniquingKeysWith: { $1 })
    for option in options {
      if let setting = settings[option.name] { write(setting) } else { writeDefault(of: option) }
    }
  }

  private mutating func write(_ setting: OptionSetting) {
    let option = setting.option
    // A file cannot name another one.
    let key = option.isInFile ? option.key : "# \(option.key)"
    guard option.kind == .values else {
      guard let value = setting.values.last else { return }
      return line("\(key): \(shown(value.text, option))", value.source.description)
    }
    guard !setting.values.isEmpty else {
      return line("\(key): \(option.mappingKey == nil ? "[]" : "{}")", setting.source.description)
    }
    text += "\(key):\n"
    for value in setting.values {
      guard option.mappingKey != nil else {
        line("  - \(shown(value.text, option))", value.source.description)
        continue
      }
      let name = String(OptionSetting.name(in: value.text))
      if option.name == "store", let kind = programs.first(where: { $0.name == name }) {
        write(kind, value.source)
      } else {
        let rest = String(value.text.dropFirst(name.count + 1))
        let isHidden = option.isSecret && !EffectiveOptions.isReference(value.text, option)
        line(
          "  \(Self.scalar(name)): \(isHidden ? Self.redacted : Self.scalar(rest))",
          value.source.description)
      }
    }
  }

  private mutating func write(_ kind: ProgramKind, _ command: SettingSource) {
    text += "  \(Self.scalar(kind.name)):\n"
    let members = effective.options.programs[kind.name]?.members ?? []
    for setting in ProgramSetting.all {
      guard let value = setting.text(kind) else { continue }
      let source =
        setting.key == ProgramSetting.command
        ? command
        : members.first { $0.setting.key == setting.key }?.source
          ?? effective.settings.first { $0.option.name == setting.key }?.source
      if setting.isSecret {
        text += "    \(setting.key):\n"
        for name in kind.command.environment.keys.sorted() {
          line("      \(Self.scalar(name)): \(Self.redacted)", source?.description ?? "default")
        }
      } else {
        line("    \(setting.key): \(Self.scalar(value))", source?.description ?? "default")
      }
    }
  }

  private mutating func writeDefault(of option: ServeOption) {
    guard let standard = option.standard() else {
      return line("# \(option.key):", "not set")
    }
    var scratch = ServeOptions()
    // Some defaults are not a value but a description.
    let isValue = option.kind == .flag || option.read(&scratch, standard) == nil
    line("\(isValue ? "" : "# ")\(option.key): \(Self.scalar(standard))", "default")
  }

  private func shown(_ value: String, _ option: ServeOption) -> String {
    option.isSecret && !EffectiveOptions.isReference(value, option)
      ? Self.redacted : Self.scalar(value)
  }

  private mutating func line(_ content: String, _ source: String) {
    let width = max(0, 40 - content.count)
    text += content + String(repeating: " ", count: width) + "  # \(source)\n"
  }

  /// Returns a text as a scalar of YAML, in quotation marks unless it is plain beyond doubt.
  private static func scalar(_ text: String) -> String {
    let isPlain =
      text.first.map { $0.isASCII && ($0.isLetter || $0.isNumber || "/.+".contains($0)) } == true
      && text.last != ":" && !text.contains(": ")
      && text.unicodeScalars.allSatisfy { scalar in
        scalar.isASCII
          && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
            || "-_./:+@=% ".unicodeScalars.contains(scalar))
      } && !["null", "~"].contains(text) && text.last != " "
    return isPlain ? text : text.quotedForYAML
  }
}

extension String {
  /// The text in quotation marks of YAML, which has the escapes of JSON.
  fileprivate var quotedForYAML: String {
    var writer = JSONWriter()
    writer.value(self)
    return writer.string()
  }
}
