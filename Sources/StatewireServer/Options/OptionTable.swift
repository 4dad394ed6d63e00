// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The options of `serve` in one section of the help.
protocol OptionSection {
  static var options: [ServeOption] { get }
}

enum CommonOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.common }
}

enum SecurityOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.security }
}

enum AddressOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.addresses }
}

enum LogOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.logs }
}

enum StorageOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.storage }
}

enum NodeOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.nodes }
}

enum BuiltinOptions<Program: ServerProgram>: OptionSection {
  static var options: [ServeOption] { Program.kinds.hasBuiltin ? ServeOption.builtin : [] }
}

enum OtherOptions: OptionSection {
  static var options: [ServeOption] { ServeOption.others }
}

enum LimitOptions<Program: ServerProgram>: OptionSection {
  static var options: [ServeOption] { ServeOption.limits(hasBuiltin: Program.kinds.hasBuiltin) }
}

/// All options of `serve`, in the order of its help: what a first server needs, and limits at last.
struct ServeArguments<Program: ServerProgram>: ParsableArguments {
  @OptionGroup(title: "Common options") var common: OptionTable<CommonOptions>
  @OptionGroup(title: "Security") var security: OptionTable<SecurityOptions>
  @OptionGroup(title: "Other addresses and files") var addresses: OptionTable<AddressOptions>
  @OptionGroup(title: "Logs") var logs: OptionTable<LogOptions>
  @OptionGroup(title: "Durability") var storage: OptionTable<StorageOptions>
  @OptionGroup(title: "Several nodes") var nodes: OptionTable<NodeOptions>
  @OptionGroup(title: "Built-in stores") var builtin: OptionTable<BuiltinOptions<Program>>
  @OptionGroup(title: "Threads and tests") var others: OptionTable<OtherOptions>
  @OptionGroup(title: "Limits") var limits: OptionTable<LimitOptions<Program>>

  /// The options on the command line.
  func given() throws(ValidationError) -> CommandLineOptions {
    var line = CommandLineOptions()
    try common.read(into: &line)
    try security.read(into: &line)
    try addresses.read(into: &line)
    try logs.read(into: &line)
    try storage.read(into: &line)
    try nodes.read(into: &line)
    try builtin.read(into: &line)
    try others.read(into: &line)
    try limits.read(into: &line)
    return line
  }

  /// Checks the options, without reading files.
  func validate() throws { try given().options.validate() }
}

/// The options of a section in the form that ArgumentParser requires. ArgumentParser parses the
/// command line, and writes the help, the completions and errors about unknown options.
///
/// ArgumentParser finds the options of a type in its mirror. Usually property wrappers fill the
/// mirror; here the table of options does, so that each option is declared only once.
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

  /// Checks the values.
  func validate() throws {
    var line = CommandLineOptions()
    try read(into: &line)
  }

  /// Reads the values.
  ///
  /// - Throws: `ValidationError` for the first value that cannot be used.
  func read(into line: inout CommandLineOptions) throws(ValidationError) {
    for (option, word) in words {
      if let fault = line.add(option, word) {
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
    // The names of property wrappers begin with an underscore.
    Mirror(
      self, children: Section.options.map { ("_" + $0.name, $0.argument) }, displayStyle: .struct)
  }
}

extension ServeOption {
  /// The option as a property wrapper of ArgumentParser.
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
