// SPDX-License-Identifier: Apache-2.0

/// The options in the environment: `STATEWIRE_` and the name of the option, in capitals and with
/// underscores.
enum EnvironmentSettings {
  /// Returns the values of an option; nil if its variable is missing or empty.
  ///
  /// Values of a repeatable option are separated by commas; `\,` is a comma in a value.
  static func setting(of option: ServeOption, in environment: [String: String]) -> OptionSetting? {
    guard let text = environment[option.variable], !text.isEmpty else { return nil }
    let texts = option.kind == .values ? list(text) : [text]
    return OptionSetting(option, texts, .environment(variable: option.variable))
  }

  /// True if a variable may be that of an option.
  static func mayHaveSettings(_ environment: [String: String]) -> Bool {
    environment.keys.contains { $0.hasPrefix(ServeOption.variablePrefix) }
  }

  /// Returns the variables that resemble those of options, in order, without those of options.
  static func unknown(in environment: [String: String], _ options: [ServeOption]) -> [String] {
    let known = Set(options.map(\.variable))
    return environment.keys.filter {
      $0.hasPrefix(ServeOption.variablePrefix) && !known.contains($0)
    }.sorted()
  }

  private static func list(_ text: String) -> [String] {
    var (texts, part, isEscaped) = ([String](), "", false)
    for character in text {
      if isEscaped {
        if character != "," { part.append("\\") }
        part.append(character)
        isEscaped = false
      } else if character == "\\" {
        isEscaped = true
      } else if character == "," {
        texts.append(part)
        part = ""
      } else {
        part.append(character)
      }
    }
    if isEscaped { part.append("\\") }
    texts.append(part)
    return texts.map { String($0.trimming(while: \.isWhitespace)) }.filter { !$0.isEmpty }
  }
}

extension String {
  fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
    var rest = drop(while: isTrimmed)
    while let last = rest.last, isTrimmed(last) { rest.removeLast() }
    return rest
  }
}
