// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// Some options of `serve`, for a section of the help.
protocol OptionSection {
  static var options: [ServeOption] { get }
}

enum GeneralOptions<Program: ServerProgram>: OptionSection {
  static var options: [ServeOption] { ServeOption.general(hasBuiltin: Program.kinds.hasBuiltin) }
}

enum SecurityOptions<Program: ServerProgram>: OptionSection {
  static var options: [ServeOption] { ServeOption.security }
}

enum LimitOptions<Program: ServerProgram>: OptionSection {
  static var options: [ServeOption] { ServeOption.limits(hasBuiltin: Program.kinds.hasBuiltin) }
}

/// The options of a section as ArgumentParser knows options: it parses words, and makes the help, the completions
/// and the errors about words that are no options.
///
/// ArgumentParser finds the options of a type by its mirror, which property wrappers fill in otherwise. Here the table
/// of the options fills it in, so that there is no second declaration of any option.
struct OptionTable<Section: OptionSection>: ParsableArguments {
  /// The values on the command line, in the order of the options.
  private var words: [(option: ServeOption, word: String)] = []

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    for option in Section.options {
      let key = Key(stringValue: option.name)
      switch option.kind {
      case .flag:
        if try container.decode(Flag<Bool>.self, forKey: key).wrappedValue {
          words.append((option, ""))
        }
      case .value:
        if let word = try container.decode(Option<String?>.self, forKey: key).wrappedValue {
          words.append((option, word))
        }
      case .values:
        for word in try container.decode(Option<[String]>.self, forKey: key).wrappedValue {
          words.append((option, word))
        }
      }
    }
  }

  func validate() throws {
    var options = ServeOptions()
    try read(into: &options)
  }

  /// Reads the values.
  ///
  /// - Throws: The first one that cannot be used.
  func read(into options: inout ServeOptions) throws(ValidationError) {
    for (option, word) in words {
      if let fault = option.read(&options, word) {
        throw ValidationError(option.message(for: fault, word))
      }
    }
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension OptionTable: CustomReflectable {
  var customMirror: Mirror {
    // Property wrappers have names that begin with an underscore.
    Mirror(
      self, children: Section.options.map { ("_" + $0.name, $0.argument) }, displayStyle: .struct)
  }
}

extension ServeOption {
  /// The same as a property of ArgumentParser.
  fileprivate var argument: any Sendable {
    let help = ArgumentHelp("\(summary())", discussion: discussion, valueName: valueName)
    let names = NameSpecification.customLong(name)
    return switch kind {
    case .flag: Flag(wrappedValue: false, name: names, help: help)
    case .value:
      Option<String?>(name: names, parsing: takesAnyWord ? .unconditional : .next, help: help)
    case .values: Option<[String]>(wrappedValue: [], name: names, help: help)
    }
  }
}
